// Estimates: what nodes without a bill would cost at the prices of a rate card.
//
// Until a month's bill arrives, or if a provider sends none, the days of a node are priced by its
// instance type ("Hours"), else by its GPU model ("GPU-Hours", times its GPUs). Such charges are
// not a bill: they have x_Estimated = true and an account of their own, and they are retired when
// the month is priced again after the bill has arrived.
#pragma once

#include <span>
#include <string>

#include "allocation/pricing/rate_card.h"
#include "core/error.h"
#include "ingest/bills/rated/node_days.h"
#include "ingest/bills/rated/owned_charges.h"
#include "ledger/node.h"

namespace pennyweight::rated {

inline constexpr const char* kEstimateAccount = "estimates";

struct EstimateOptions {
  std::string organisation;                // InvoiceIssuerName
  std::string account = kEstimateAccount;  // BillingAccountId: what a later delivery replaces
};

// One charge for each node and each day of its presence, for the time it was there. The notes name
// nodes without a price, and why.
PricedLines estimated_charges(std::span<const Node> nodes, const RateCard& card,
                              const PricedMonth& month, const EstimateOptions& options);

// The charge of one node for part of a day. An Error says why it has no price.
Result<Charge> estimated_charge(const Node& node, const RateCard& card, const PricedMonth& month,
                                const Interval& during, const EstimateOptions& options);

// The charge, of cost 0, that replaces the estimates of a month once no estimate is left. Without
// it, the delivery would not retire them.
Charge no_estimates_left(const PricedMonth& month, const EstimateOptions& options,
                         Currency currency);

}  // namespace pennyweight::rated
