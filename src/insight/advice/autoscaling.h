// Proposes replicas that follow the demand, for services whose GPUs are busy by day and not by
// night.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "insight/advice/activity_profile.h"
#include "insight/advice/node_bill.h"
#include "insight/advice/proposal.h"
#include "insight/advice/work_on_nodes.h"

namespace pennyweight::advising {

// The proposals about a service: only one of them can be followed.
std::string autoscaling_set(const ClusterId& cluster, std::string_view work);

// Saved are the hours of nodes that the service had to itself, beyond those that hold enough
// replicas: so many that their GPUs are busy at most 60 % of the hour before, of this and of the
// next. The first hour of each stretch is kept. Only work whose name says that it is a service, and
// whose replicas are whole GPUs of one node.
std::vector<Proposal> propose_autoscaling(const ClusterMonth& month,
                                          const ActivityProfiles& profiles,
                                          const std::map<std::string, WorkOnNodes>& works,
                                          const FleetView& fleet, const FleetHours& hours,
                                          const NodeBill& bill,
                                          const std::map<std::uint32_t, HourFlags>& released);

}  // namespace pennyweight::advising
