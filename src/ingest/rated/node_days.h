// What lines about nodes that nobody bills have in common: days, and how a line names its node.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/charge.h"
#include "ledger/node.h"
#include "pricing/exchange.h"

namespace pennyweight::rated {

// A billing month of UTC, as every bill here has them, up to a day that is not over yet.
struct PricedMonth {
  Interval billing;  // the month
  Date first;        // its days [first, end) that are priced
  Date end;
};

// `year_month` is "2026-03". Days that are not over at `now` are left out: the month's last days
// cost nothing before they have been. An Error where the text is no month.
Result<PricedMonth> priced_month(const std::string& year_month, Instant now);

Interval interval_of(Date day);

// A usage line of one day, in which everything is set that does not depend on what it costs. The
// resource is the node's provider id, or its name where it has none, so that it is found again.
Charge node_line(const Node& node, const PricedMonth& month, const Interval& during);

// The same words for those who compare lines with nodes.
const std::string& resource_id_of(const Node& node);

}  // namespace pennyweight::rated
