// UnitOfMeasure: the unit in which Azure counts a quantity, and how many units a price is for.
//
//   "1 Hour"       Hours, priced each
//   "10 Hours"     Hours, priced by tens: 25 hours are a pricing quantity of 2.5
//   "1 GB/Month"   GB/Month
//   "10K", "1M/Month"   Units, priced by 10,000; here the quantity already counts blocks
//   "Unassigned"   unchanged
//
// A number before a unit says how many units a price is for; the quantity counts single units
// (Microsoft's mapping to FOCUS divides by this block size). If the number has K, M or B, the
// quantity counts blocks: 0.428 of "1K" pipeline runs at 1.12 CAD are 428 runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/decimal.h"
#include "core/error.h"

namespace pennyweight::azure {

struct UnitOfMeasure {
  std::int64_t block = 1;  // units that one price is for
  bool counts_blocks = false;
  std::string unit;          // "Hours", "GB-Hours": as FOCUS writes units
  std::string pricing_unit;  // "10 Hours"; the unit alone if the block is 1
};

// Every text is a unit; an empty one is "Units".
UnitOfMeasure parse_unit_of_measure(std::string_view text);

// The quantity in blocks. `rounded`: it has digits beyond 10^-18, as 1 of 30 days has.
ParsedDecimal pricing_quantity(Decimal quantity, const UnitOfMeasure& measure);
// The quantity in units. An Error if it is out of the range of Decimal.
Result<Decimal> consumed_quantity(Decimal quantity, const UnitOfMeasure& measure);

}  // namespace pennyweight::azure
