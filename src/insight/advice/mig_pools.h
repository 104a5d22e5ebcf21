// Proposes to cut GPUs into MIG instances where small work holds whole GPUs, or instances of a
// layout that leaves much of them over.
#pragma once

#include <map>
#include <vector>

#include "allocation/policy/policy.h"
#include "insight/advice/activity_profile.h"
#include "insight/advice/node_bill.h"
#include "insight/advice/proposal.h"
#include "insight/advice/work_on_nodes.h"

namespace pennyweight::advising {

// One for each pool of nodes of one instance type whose GPUs have MIG. Work fits an instance with
// memory of 1.2 times its p99 and compute for its p95; it holds one GPU at a time, is seen for 80 %
// of the time over 7 days or 3 runs, and never judged by GPU_UTIL. All of it at its peak, instance
// by instance, gets the fewest GPUs; nodes beyond these fall off the bill in the hours in which
// such work held them. Only nodes that nothing else ever held count.
std::vector<Proposal> propose_mig_layouts(const ClusterMonth& month,
                                          const ActivityProfiles& profiles, const FleetView& fleet,
                                          const FleetHours& hours, const NodeBill& bill,
                                          const std::map<std::uint32_t, HourFlags>& released,
                                          const Policy& policy, WorkManager configured);

}  // namespace pennyweight::advising
