// Coverage for people: one row per dimension, then the reasons for the gap and what to do about
// them.
#include "reporting/coverage/coverage_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "reporting/coverage/table_helpers.h"

namespace pennyweight {
namespace {

// The share of GPU spend in the ledger, and what the rest is.
Table ledger_table(const Coverage& any, const std::string& period_label) {
  const Currency currency = any.spend.currency();
  Table table;
  table.title = fmt::format("{}: GPU spend within the bill", period_label);
  table.currency = currency;
  table.columns = {{"part", "part of the bill", ColumnKind::kText},
                   effective_column(currency),
                   {"share", "share", ColumnKind::kPercent}};
  const Money total = any.ledger_total();
  const auto add = [&](const char* name, Money amount, bool always) {
    if (always || !amount.is_zero())
      table.rows.push_back({std::string(name), amount, money_ratio(amount, total)});
  };
  add("GPU spend", any.spend, true);
  add("CPU and memory of machines", any.host, false);
  add("unused commitments, machine type unknown", any.unknown_commitment, false);
  add("other: storage, network, support, tax", any.other, false);
  table.total = Row{std::string("all bill lines"), total, money_ratio(total, total)};
  return table;
}

// How much each dimension reaches, side by side.
Table summary_table(std::span<const Coverage> all, Currency currency,
                    const std::string& period_label) {
  Table table;
  table.title = fmt::format("{}: GPU spend that reaches an owner", period_label);
  table.currency = currency;
  table.columns = {{"dimension", "dimension", ColumnKind::kText},
                   {"gpu_spend", "GPU spend", ColumnKind::kMoney},
                   {"reached", "reached", ColumnKind::kMoney},
                   {"by_spreading", "by spreading", ColumnKind::kMoney},
                   {"share", "coverage", ColumnKind::kPercent},
                   {"gap", "gap", ColumnKind::kMoney},
                   {"largest", "largest gap", ColumnKind::kText}};
  const bool spread = std::ranges::any_of(all, [&](const Coverage& one) {
    return one.spend.currency() == currency && !one.by_spreading.is_zero();
  });
  for (const Coverage& one : all) {
    if (one.spend.currency() != currency) continue;
    Row row = {one.dimension,
               one.spend,
               one.reached,
               one.by_spreading,
               money_ratio(one.reached + one.by_spreading, one.spend),
               one.gap_total(),
               one.gap.empty() ? std::string() : std::string(to_text(one.gap.front().reason))};
    if (!spread) row.erase(row.begin() + 3);
    table.rows.push_back(std::move(row));
  }
  if (!spread) table.columns.erase(table.columns.begin() + 3);
  return table;
}

// Dimensions with equal gaps share one table.
Table reasons_table(const Coverage& one, const std::vector<std::string>& dimensions) {
  const Currency currency = one.spend.currency();
  Table table;
  table.title = fmt::format("{}: reasons for the gap, largest first", fmt::join(dimensions, ", "));
  table.currency = currency;
  table.columns = {{"reason", "reason", ColumnKind::kText},
                   effective_column(currency),
                   {"share", "of GPU spend", ColumnKind::kPercent}};
  for (const GapAmount& part : one.gap) {
    table.rows.push_back({std::string(to_text(part.reason)), part.effective,
                          money_ratio(part.effective, one.spend)});
    table.notes.push_back(
        fmt::format("{}: {}", to_text(part.reason),
                    advice(part.reason, dimensions.size() == 1 ? dimensions.front() : "NAME")));
  }
  table.total = Row{std::string("gap"), one.gap_total(), money_ratio(one.gap_total(), one.spend)};
  return table;
}

std::string heading(const CoverageGap& gap) {
  if (gap.reason == GapReason::kNoNode) return "GPU bill lines that join no node, by resource";
  return fmt::format("{}: who lacks the label", gap.dimension);
}

std::vector<Table> gap_tables(std::span<const CoverageGap> gaps, const std::string& dimension,
                              Currency currency) {
  std::vector<Table> tables;
  for (const CoverageGap& gap : gaps) {
    if (gap.dimension != dimension || gap.effective.currency() != currency) continue;
    const std::string title = heading(gap);
    if (tables.empty() || tables.back().title != title) {
      const bool is_resource = gap.reason == GapReason::kNoNode;
      tables.push_back(
          {.title = title,
           .currency = currency,
           .columns = {{"place", is_resource ? "resource" : "where", ColumnKind::kText},
                       {"postings", "postings", ColumnKind::kCount},
                       effective_column(currency),
                       {"remark", is_resource ? "service" : "their labels", ColumnKind::kText}},
           .rows = {},
           .total = std::nullopt,
           .notes = {}});
    }
    tables.back().rows.push_back({gap.subject, gap.postings, gap.effective, gap.remark});
  }
  return tables;
}

std::vector<Currency> coverage_currencies(std::span<const Coverage> all) {
  std::vector<Currency> currencies;
  for (const Coverage& one : all) currencies.push_back(one.spend.currency());
  std::ranges::sort(currencies);
  const auto rest = std::ranges::unique(currencies);
  currencies.erase(rest.begin(), rest.end());
  return currencies;
}

}  // namespace

std::vector<Table> coverage_tables(std::span<const Coverage> all, std::span<const CoverageGap> gaps,
                                   const std::string& period_label) {
  std::vector<Table> tables;
  for (const Currency currency : coverage_currencies(all)) {
    const auto first = std::ranges::find_if(
        all, [&](const Coverage& one) { return one.spend.currency() == currency; });
    tables.push_back(ledger_table(*first, period_label));
    // Gaps of no particular dimension.
    for (Table& table : gap_tables(gaps, "", currency)) tables.push_back(std::move(table));
    tables.insert(tables.begin() + (tables.size() > 1 ? 1 : 0),
                  summary_table(all, currency, period_label));
    for (auto one = all.begin(); one != all.end(); ++one) {
      const auto is_same = [&](const Coverage& other) {
        return other.spend.currency() == currency && other.gap == one->gap;
      };
      if (one->spend.currency() != currency || one->gap.empty()) continue;
      if (std::find_if(all.begin(), one, is_same) == one) {
        std::vector<std::string> dimensions;
        for (const Coverage& other : all) {
          if (is_same(other)) dimensions.push_back(other.dimension);
        }
        tables.push_back(reasons_table(*one, dimensions));
      }
      for (Table& table : gap_tables(gaps, one->dimension, currency)) {
        tables.push_back(std::move(table));
      }
    }
  }
  return tables;
}

std::vector<Table> coverage_rows(std::span<const Coverage> all) {
  std::vector<Table> tables;
  for (const Currency currency : coverage_currencies(all)) {
    Table table;
    table.currency = currency;
    table.columns = {{"dimension", "dimension", ColumnKind::kText},
                     {"part", "part", ColumnKind::kText},
                     {"effective_cost", "effective", ColumnKind::kMoney}};
    for (const Coverage& one : all) {
      if (one.spend.currency() != currency) continue;
      table.rows.push_back({one.dimension, std::string("reached"), one.reached});
      table.rows.push_back({one.dimension, std::string("reached by spreading"), one.by_spreading});
      for (const GapAmount& part : one.gap) {
        table.rows.push_back({one.dimension, std::string(to_text(part.reason)), part.effective});
      }
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace pennyweight
