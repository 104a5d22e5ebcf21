// Cost as it was and as it would be, and who pays less or more.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "insight/queries/what_if_tables.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// By how much a figure changed: "-20.0 %"; nothing where there was none of it.
std::optional<std::string> change_text(Int128 was, Int128 is) {
  if (was <= 0 || is < 0) return std::nullopt;
  const Int128 change = is - was;
  const Int128 size = change < 0 ? -change : change;
  // Amounts are far below 2^117 ticks, so that a thousand times one fits.
  const auto tenths = static_cast<std::uint64_t>((size * 1000 + was / 2) / was);
  if (tenths == 0) return "0.0 %";
  return fmt::format("{}{}.{} %", change < 0 ? "-" : "+", tenths / 10, tenths % 10);
}

struct CostChange {
  std::string key;
  Money was, would_be;
  Int128 size() const {
    const Int128 change = would_be.ticks() - was.ticks();
    return change < 0 ? -change : change;
  }
};

// Who pays less or more, and whether it is for fewer GPU-hours or for cheaper ones: those whose
// cost changes most.
std::vector<std::string> explain_costs(const WhatIfAmounts& amounts,
                                       std::vector<CostChange> changes) {
  constexpr std::size_t kExplained = 3;
  const bool is_only_currency = amounts.costs.size() == 1;
  std::ranges::stable_sort(changes, std::ranges::greater(), &CostChange::size);
  std::vector<std::string> notes;
  for (const CostChange& change : changes) {
    if (change.size() == 0 || notes.size() == kExplained) break;
    const Money difference = change.would_be - change.was;
    const Money size = difference.is_negative() ? -difference : difference;
    std::string note = fmt::format(
        "{} pays {} {} {}", change.key, format_rounded(size.amount(), 2, Thousands::kSeparated),
        size.currency().text(), difference.is_negative() ? "less" : "more");
    const auto payer = amounts.held.find(change.key);
    const auto [held_was, held_is] =
        payer == amounts.held.end() ? WhatIfAmounts::HeldTime() : payer->second;
    const auto held = change_text(held_was, held_is);
    // Per GPU-hour: cost and hours in units small enough to be multiplied.
    constexpr Int128 kNano = 1'000'000'000;
    constexpr Int128 kGpuSecond = Int128{1000} * 1'000'000;
    const Int128 seconds_was = held_was / kGpuSecond;
    const Int128 seconds_is = held_is / kGpuSecond;
    // What is paid in another currency is of the same hours.
    const auto each = seconds_is == 0 || !is_only_currency
                          ? std::nullopt
                          : change_text(change.was.ticks() / kNano * seconds_is,
                                        change.would_be.ticks() / kNano * seconds_was);
    if (held) note += fmt::format("; GPU-hours held: {}", *held);
    if (each) note += fmt::format("; cost of each: {}", *each);
    notes.push_back(note + ".");
  }
  return notes;
}

}  // namespace

std::vector<Table> what_if_cost_tables(const WhatIfAmounts& amounts, const std::string& by,
                                       const std::string& policy, const std::string& title) {
  std::vector<Table> tables;
  for (const auto& [currency, rows] : amounts.costs) {
    Table table;
    table.title = fmt::format("{}, cost by {}, {}", title, by, currency.text());
    table.currency = currency;
    table.columns = {{by, by, ColumnKind::kText},
                     {"as_it_was", "as it was", ColumnKind::kMoney},
                     {"what_if", "what if", ColumnKind::kMoney},
                     {"difference", "difference", ColumnKind::kMoney}};
    WhatIfAmounts::Cost total{Money::zero(currency), Money::zero(currency)};
    std::vector<CostChange> changes;
    for (const auto& [key, cost] : rows) {
      const auto& [is_bucket, payer] = key;
      if (!is_bucket) changes.push_back({payer, cost.was, cost.would_be});
      table.rows.push_back({payer, cost.was, cost.would_be, cost.would_be - cost.was});
      total.was += cost.was;
      total.would_be += cost.would_be;
    }
    table.total = Row{"total", total.was, total.would_be, total.would_be - total.was};
    table.notes = explain_costs(amounts, std::move(changes));
    if (amounts.costs.size() > 1) {
      table.notes.push_back(fmt::format(
          "The bill is in {} currencies, each with a table of its own. A job that moves "
          "to a node charged in another one changes what its {} pays in both: judge "
          "them together.",
          amounts.costs.size(), by));
    }
    table.notes.push_back(
        "Divided by what was requested on both sides, since a replay has no telemetry.");
    if (!policy.empty()) {
      table.notes.push_back(fmt::format(
          "What if is divided by the policy {}, as it was by the ledger's: the difference is of "
          "the policy and of the scenario's other changes together.",
          policy));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<Table> what_if_tier_cost_tables(const WhatIfAmounts& amounts,
                                            const std::string& title) {
  std::vector<Table> tables;
  for (const auto& [currency, rows] : amounts.tier_costs) {
    Table table;
    table.title = fmt::format("{}, cost by tier, {}", title, currency.text());
    table.currency = currency;
    table.columns = {{"tier", "tier", ColumnKind::kText},
                     {"as_it_was", "as it was", ColumnKind::kMoney},
                     {"what_if", "what if", ColumnKind::kMoney},
                     {"difference", "difference", ColumnKind::kMoney}};
    WhatIfAmounts::Cost total{Money::zero(currency), Money::zero(currency)};
    for (const auto& [tier, cost] : rows) {
      table.rows.push_back({tier, cost.was, cost.would_be, cost.would_be - cost.was});
      total.was += cost.was;
      total.would_be += cost.would_be;
    }
    table.total = Row{"total", total.was, total.would_be, total.would_be - total.was};
    if (rows.contains("other")) {
      table.notes.emplace_back(
          "Other: charges to which the bill gives no pricing category, such as taxes and fees.");
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace pennyweight
