// Estimates: what nodes that have no bill would cost at a rate card's prices.
//
// Between a month's end and its bill, or where a provider sends none, a node's days are priced by
// its instance type ("Hours"), else by its GPU model ("GPU-Hours", times its GPUs). Such lines are
// no bill: they say x_Estimated = true, are of an account of their own, and are taken back when the
// month is priced again after the bill has come.
#pragma once

#include <span>
#include <string>

#include "core/error.h"
#include "ingest/rated/node_days.h"
#include "ingest/rated/owned_charges.h"
#include "ledger/node.h"
#include "pricing/rate_card.h"

namespace pennyweight::rated {

inline constexpr const char* kEstimateAccount = "estimates";

struct EstimateOptions {
  std::string organisation;                // InvoiceIssuerName
  std::string account = kEstimateAccount;  // BillingAccountId: what a later delivery replaces
};

// A line for each node and day on which it was there, for the time it was. Noted are nodes that
// have no price, and why.
PricedLines estimated_charges(std::span<const Node> nodes, const RateCard& card,
                              const PricedMonth& month, const EstimateOptions& options);

// The line of one node over part of a day. An Error says why it has no price.
Result<Charge> estimated_charge(const Node& node, const RateCard& card, const PricedMonth& month,
                                const Interval& during, const EstimateOptions& options);

// The line of a month in which no estimate is left, where there were some: it costs nothing, and
// takes their place. Without it nothing would say that they are gone.
Charge no_estimates_left(const PricedMonth& month, const EstimateOptions& options,
                         Currency currency);

}  // namespace pennyweight::rated
