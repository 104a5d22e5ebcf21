// Proposes to give back nodes that nobody held, for good or for the hours in which nobody did.
#pragma once

#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/node_bill.h"
#include "insight/advice/proposal.h"

namespace pennyweight::advising {

// The least time of records from which advice about a fleet is given.
inline constexpr std::size_t kRecordedHoursMin = 168;  // a week

struct NodeReleases {
  std::vector<Proposal> proposals;
  // The hours in which each node is kept if all of them are followed, by node.
  std::vector<HourFlags> kept;
  std::vector<std::string> gaps = {};
};

// REQUIRES: at least kRecordedHoursMin hours are recorded.
NodeReleases propose_node_releases(const ClusterId& cluster, const FleetView& fleet,
                                   const FleetHours& hours, const NodeBill& bill,
                                   const Catalog& catalog, WorkManager manager);

}  // namespace pennyweight::advising
