// Proposes shorter time limits for jobs that end long before theirs.
#pragma once

#include <vector>

#include "insight/advice/activity_profile.h"
#include "insight/advice/proposal.h"
#include "insight/compare/collect_windows.h"

namespace pennyweight::advising {

// Work whose ended runs used at most a fifth of what their limits allowed, and left at least 1,000
// GPU-hours of it. Nothing falls off the bill: shorter limits let the scheduler fill gaps, so jobs
// wait less. The limit that is proposed is at least one and a half times the longest run.
std::vector<Proposal> propose_time_limits(const ClusterMonth& month,
                                          const ActivityProfiles& profiles, Currency currency);

}  // namespace pennyweight::advising
