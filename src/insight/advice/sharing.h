// Proposes GPUs that several workloads share, by time-slicing or MPS.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "insight/advice/activity_profile.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/node_bill.h"
#include "insight/advice/proposal.h"

namespace pennyweight::advising {

// One for each pool of nodes of one instance type. A GPU is shared by so many that any of them fit
// together: the 95th percentiles of their activity are at most 80 % together, the 99th of their
// memory at most 90 % of the GPU's, and their peaks at most all of it. Work that does not fit keeps
// its GPUs alone, on other nodes. All of the work at its peak gets the fewest GPUs; nodes beyond
// these fall off the bill in the hours in which they were held. Seen for 80 % of the time over 7
// days or 3 runs, and never judged by GPU_UTIL. Only nodes that nothing else ever held count.
std::vector<Proposal> propose_sharing(const ClusterMonth& month, const ActivityProfiles& profiles,
                                      const FleetView& fleet, const FleetHours& hours,
                                      const NodeBill& bill,
                                      const std::map<std::uint32_t, HourFlags>& released,
                                      const Policy& policy, WorkManager configured);

}  // namespace pennyweight::advising
