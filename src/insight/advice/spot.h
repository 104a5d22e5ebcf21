// Proposes spot capacity for work that says of itself that it can be interrupted.
//
// A holding says so with a label `checkpointable` (or `checkpoint`): true, yes, on or 1. In Slurm
// the label comes from the job's comment. Without it nothing is proposed, since an interrupted run
// that saves nothing is lost.
#pragma once

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

struct SpotAdvice {
  std::vector<Proposal> proposals;
  std::vector<std::string> gaps;  // no price of spot
};

// Saved is what the bill says of the on-demand hours of nodes that the work held whole and alone,
// times what a useful hour on spot costs less at list prices. Interruptions are those of the
// cluster's own spot nodes where five were seen, else one in two hours. A job with a time limit has
// no more time than that.
SpotAdvice propose_spot(const ClusterMonth& month, const ActivityProfiles& profiles,
                        const std::map<std::string, WorkOnNodes>& works, const FleetView& fleet,
                        const FleetHours& hours, const NodeBill& bill,
                        const std::map<std::uint32_t, HourFlags>& released, Instant prices_at,
                        WorkManager configured);

// The set of alternatives of spot for a piece of work on an instance type.
std::string spot_set(const ClusterId& cluster, std::string_view work, std::string_view type,
                     std::string_view region);

}  // namespace pennyweight::advising
