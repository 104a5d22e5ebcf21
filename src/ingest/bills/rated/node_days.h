// What the charges of nodes without a bill have in common: days, and how a charge names its node.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/pricing/exchange.h"
#include "core/billing_period.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/charge.h"
#include "ledger/node.h"

namespace pennyweight::rated {

// A billing month in UTC, up to the first day that is not over.
struct PricedMonth {
  Interval billing;  // the month
  Date first;        // its days [first, end) that are priced
  Date end;
};

// `year_month` is "2026-03". Days that are not over at `now` are left out. An Error for a text that
// is no month.
Result<PricedMonth> priced_month(const std::string& year_month, Instant now);

Interval interval_of(Date day);

// A usage charge of one day, with all fields that do not depend on its cost. The resource is the
// node's provider id, or its name if it has none, so that the charge joins its node.
Charge node_line(const Node& node, const PricedMonth& month, const Interval& during);

// The same text, to compare charges with nodes.
const std::string& resource_id_of(const Node& node);

}  // namespace pennyweight::rated
