// Proposes commitments for the on-demand hours that remain, by simulation hour by hour.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "insight/advice/node_bill.h"
#include "insight/advice/proposal.h"

namespace pennyweight::advising {

struct CommitmentAdvice {
  std::vector<Proposal> proposals;
  std::vector<std::string> gaps;  // what stopped others: no price of a commitment
};

// `kept`: the hours in which each node stays, by node, after other advice. What a commitment costs
// is the list price's ratio of committed to on demand at `prices_at`, times what is paid on demand.
CommitmentAdvice propose_commitments(const ClusterId& cluster, const FleetView& fleet,
                                     const FleetHours& hours, const NodeBill& bill,
                                     std::span<const HourFlags> kept, const Catalog& catalog,
                                     Instant prices_at);

// The commitment or reservation of which the line is a part that nothing used; nothing for others.
std::optional<std::string> unused_commitment_of(const Charge& charge);

// Commitments of the bill that were paid and not used.
std::vector<Proposal> find_unused_commitments(const ClusterId& cluster,
                                              std::span<const Charge> charges, Money Costs::* cost,
                                              const Interval& period);

}  // namespace pennyweight::advising
