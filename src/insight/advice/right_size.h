// Proposes another GPU model for work that uses little of the one it has, or all of it.
#pragma once

#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "insight/advice/activity_profile.h"
#include "insight/advice/proposal.h"

namespace pennyweight::advising {

struct RightSizeAdvice {
  std::vector<Proposal> proposals;
  std::vector<std::string> gaps;
};

// At list prices of the same provider and region at `prices_at`. Takes SM or engine activity and
// DRAM activity, never GPU_UTIL alone, for 7 days or 3 runs, and 80 % of the time observed. Where
// the GPU has BF16, so must the other one, since nothing says which type the work needs.
RightSizeAdvice propose_right_sizes(const ClusterId& cluster, const ActivityProfiles& profiles,
                                    const Catalog& catalog, Instant prices_at,
                                    const Interval& period);

}  // namespace pennyweight::advising
