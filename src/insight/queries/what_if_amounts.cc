#include "insight/queries/what_if_amounts.h"

#include <fmt/format.h>

#include "core/try.h"

namespace pennyweight {
namespace {

std::string payer_of(const CostPart& part, const MethodCosts& costs, const std::string& by) {
  if (part.workload.empty()) return fmt::format("({})", part.bucket);
  const auto owner = costs.owners.find(part.workload);
  const auto value = owner == costs.owners.end() ? std::nullopt : owner->second.find(by);
  return value ? std::string(*value) : "(none)";
}

std::string payer_of_team(const std::string& team) { return team.empty() ? "(none)" : team; }

// Converts amounts that a search holds in ticks.
class TickConversion {
 public:
  TickConversion(Currency from, const ConvertAmount& convert) : from_(from), convert_(convert) {}

  Result<void> operator()(Int128& ticks) const {
    const Money converted = TRY(convert_(Money::from_ticks(ticks, from_)));
    ticks = converted.ticks();
    return {};
  }

 private:
  Currency from_;
  const ConvertAmount& convert_;
};

template <class Key>
Result<void> convert_costs_into(std::map<Currency, std::map<Key, WhatIfAmounts::Cost>>& all,
                                Currency to, const ConvertAmount& convert) {
  std::map<Key, WhatIfAmounts::Cost> sums;
  for (const auto& [currency, costs] : all) {
    for (const auto& [key, cost] : costs) {
      const Money was = TRY(convert(cost.was));
      const Money would_be = TRY(convert(cost.would_be));
      const auto [sum, is_new] = sums.try_emplace(key, WhatIfAmounts::Cost{was, would_be});
      if (is_new) continue;
      sum->second.was += was;
      sum->second.would_be += would_be;
    }
  }
  all.clear();
  if (!sums.empty()) all.emplace(to, std::move(sums));
  return {};
}

Result<void> convert_fleets(std::vector<what_if::FleetPoint>& fleets, Currency to,
                            const ConvertAmount& convert) {
  for (what_if::FleetPoint& fleet : fleets) {
    if (fleet.bill.empty()) continue;
    Money sum = Money::zero(to);
    for (const auto& [currency, cost] : fleet.bill) {
      const Money converted = TRY(convert(cost));
      sum += converted;
    }
    fleet.bill = {{to, sum}};
  }
  return {};
}

Result<void> convert_tiers(what_if::TierAnswer& answer, Currency to, const ConvertAmount& convert) {
  const TickConversion convert_ticks(answer.currency, convert);
  TRY(convert_ticks(answer.price));
  for (what_if::TierPoint& point : answer.points) {
    TRY(convert_ticks(point.committed_cost));
    TRY(convert_ticks(point.on_demand_cost));
    TRY(convert_ticks(point.spot_cost));
  }
  answer.currency = to;
  return {};
}

Result<void> convert_mig(what_if::MigAnswer& answer, Currency to, const ConvertAmount& convert) {
  const TickConversion convert_ticks(answer.currency, convert);
  for (what_if::MigPoint& point : answer.found.points) TRY(convert_ticks(point.cost));
  answer.currency = to;
  return {};
}

}  // namespace

WhatIfAmounts what_if_amounts(const what_if::WhatIf& result, const std::string& by) {
  WhatIfAmounts amounts{.fleets = result.fleets,
                        .tiers = result.tiers,
                        .mig = result.mig,
                        .commitments = result.commitments};
  const auto add_costs = [&](const MethodCosts& costs, Money WhatIfAmounts::Cost::* side) {
    for (const CostPart& part : costs.parts) {
      const Currency currency = part.cost.currency();
      const Money zero = Money::zero(currency);
      const auto row = amounts.costs[currency].try_emplace(
          {part.workload.empty(), payer_of(part, costs, by)}, WhatIfAmounts::Cost{zero, zero});
      row.first->second.*side += part.cost;
    }
  };
  const auto add_tiers = [&](const what_if::TierCosts& tiers, Money WhatIfAmounts::Cost::* side) {
    for (const auto& [currency, costs] : tiers) {
      const Money zero = Money::zero(currency);
      for (const auto& [tier, cost] : costs) {
        const auto row =
            amounts.tier_costs[currency].try_emplace(tier, WhatIfAmounts::Cost{zero, zero});
        row.first->second.*side += cost;
      }
    }
  };
  add_tiers(result.tiers_was, &WhatIfAmounts::Cost::was);
  add_tiers(result.tiers_would_be, &WhatIfAmounts::Cost::would_be);
  add_costs(result.cost_was, &WhatIfAmounts::Cost::was);
  add_costs(result.cost_would_be, &WhatIfAmounts::Cost::would_be);
  for (const auto& [team, figures] : result.teams_calibrated) {
    amounts.held[payer_of_team(team)].was = figures.held;
  }
  for (const auto& [team, figures] : result.teams_would_be) {
    amounts.held[payer_of_team(team)].would_be = figures.held;
  }
  return amounts;
}

Result<WhatIfAmounts> convert_amounts(const WhatIfAmounts& amounts, Currency to,
                                      const ConvertAmount& convert) {
  WhatIfAmounts converted = amounts;
  TRY(convert_costs_into(converted.costs, to, convert));
  TRY(convert_costs_into(converted.tier_costs, to, convert));
  TRY(convert_fleets(converted.fleets, to, convert));
  if (converted.tiers) TRY(convert_tiers(*converted.tiers, to, convert));
  if (converted.mig) TRY(convert_mig(*converted.mig, to, convert));
  for (what_if::BoughtCommitment& bought : converted.commitments) {
    for (Money* amount :
         {&bought.per_hour, &bought.cost, &bought.unused, &bought.replaced, &bought.term_cost}) {
      *amount = TRY(convert(*amount));
    }
  }
  return converted;
}

}  // namespace pennyweight
