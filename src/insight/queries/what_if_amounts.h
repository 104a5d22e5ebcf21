// WhatIfAmounts: the amounts of a result, apart from what became of its jobs.
//
// They are as billed, or all converted into one currency. The tables with amounts are made from
// them alone, so that a result is shown in another currency without a replay. Each amount of a row
// is converted and rounded once (reporting/conversion.h); totals and differences are of these.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/int128.h"
#include "core/money.h"
#include "insight/what_if/what_if.h"

namespace pennyweight {

struct WhatIfAmounts {
  struct Cost {
    Money was, would_be;
  };
  // In thousandths of a GPU times microseconds.
  struct HeldTime {
    Int128 was = 0;
    Int128 would_be = 0;
  };
  // Whether it is of a bucket, and the name of the bucket or of who pays.
  using CostKey = std::pair<bool, std::string>;
  std::map<Currency, std::map<CostKey, Cost>> costs = {};
  std::map<Currency, std::map<std::string, Cost>> tier_costs = {};
  std::map<std::string, HeldTime> held = {};  // by who pays
  std::vector<what_if::FleetPoint> fleets = {};
  std::optional<what_if::TierAnswer> tiers = {};
  std::optional<what_if::MigAnswer> mig = {};
  std::vector<what_if::BoughtCommitment> commitments = {};
};

// As billed. `by`: the dimension of who pays.
WhatIfAmounts what_if_amounts(const what_if::WhatIf& result, const std::string& by);

// An Error where there is no rate.
using ConvertAmount = std::function<Result<Money>(const Money&)>;
// REQUIRES: convert gives amounts in `to`.
Result<WhatIfAmounts> convert_amounts(const WhatIfAmounts& amounts, Currency to,
                                      const ConvertAmount& convert);

}  // namespace pennyweight
