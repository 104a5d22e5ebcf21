// UnitPrices: the price columns of a bill line such that cost = unit price × quantity, as FOCUS
// demands of every line that has a price.
//
// A provider's bill often lacks a unit price (Oracle's has no list price, Azure's no price of what
// a reservation covered), or states one beside which the cost was rounded (Google, AWS). The cost
// is what is billed, so it never changes: a unit price that is missing, or that times the quantity
// misses the cost by more than a judge of the file forgives, is the cost divided by the quantity.
// What the bill had said is kept by the caller (Replaced).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/decimal.h"
#include "core/error.h"
#include "ledger/charge.h"

namespace pennyweight {

struct UnitPrices {
  std::optional<Decimal> quantity;
  std::string unit;
  std::optional<Decimal> list;
  std::optional<Decimal> contracted;
  bool operator==(const UnitPrices&) const = default;
};

// The columns whose stated value had to give way, with that value, sorted by name.
using Replaced = std::vector<std::pair<std::string, std::string>>;

struct FittedPrices {
  UnitPrices prices;
  Replaced replaced;
};

// REQUIRES: the line is no tax. The quantity is the stated one; else what was consumed; else 1,
// of the unit "Units". It has the sign of the costs, since no unit price may be negative. A
// quantity beyond a million is stated in thousands, millions, … of its unit where the quotient
// would be too coarse otherwise. An Error where list and contracted cost have two signs: no
// quantity gives both.
Result<FittedPrices> fit_prices(const Charge& charge);

}  // namespace pennyweight
