// Proposes another GPU model for work that uses little of the one it has, or all of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "insight/advice/activity_profile.h"
#include "insight/advice/node_bill.h"
#include "insight/advice/proposal.h"
#include "insight/advice/work_on_nodes.h"

namespace pennyweight::advising {

struct RightSizeAdvice {
  std::vector<Proposal> proposals;
  std::vector<std::string> gaps;
};

// Takes SM or engine activity and DRAM activity, never GPU_UTIL alone, for 7 days or 3 runs, and
// 80 % of the time observed. Where the GPU has BF16, so must the other one, since nothing says
// which type the work needs. Only instances with as many GPUs as the work holds of a node, and with
// the CPU and memory that it asks for.
//
// Saved is what the bill says of the on-demand hours of nodes that the work held whole and alone,
// times the difference of list prices at `prices_at`. `released`: hours in which nodes go by other
// advice, which are not saved again.
RightSizeAdvice propose_right_sizes(const ClusterId& cluster, const ActivityProfiles& profiles,
                                    const std::map<std::string, WorkOnNodes>& works,
                                    const FleetView& fleet, const FleetHours& hours,
                                    const NodeBill& bill,
                                    const std::map<std::uint32_t, HourFlags>& released,
                                    const Catalog& catalog, Instant prices_at);

// The set of alternatives of other models for a piece of work.
std::string right_size_set(const ClusterId& cluster, std::string_view work, std::string_view model);

}  // namespace pennyweight::advising
