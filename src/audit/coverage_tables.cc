// Coverage for people: one line a dimension, then why the rest stops, with what to do.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/audit_tables.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

Ratio part_of(Money part, Money whole) { return {part.ticks(), whole.ticks()}; }

Column effective_column(Currency currency) {
  return {"effective_cost", "effective " + currency.text(), ColumnKind::kMoney};
}

// What of the ledger is GPU spend, so that nobody wonders about the rest.
Table ledger_table(const Coverage& any, const std::string& what) {
  const Currency currency = any.spend.currency();
  Table table;
  table.title = fmt::format("{}: what of the bill is GPU spend", what);
  table.currency = currency;
  table.columns = {{"part", "part of the bill", ColumnKind::kText},
                   effective_column(currency),
                   {"share", "share", ColumnKind::kPercent}};
  const Money total = any.ledger_total();
  const auto add = [&](const char* name, Money amount, bool always) {
    if (always || !amount.is_zero())
      table.rows.push_back({std::string(name), amount, part_of(amount, total)});
  };
  add("GPU spend", any.spend, true);
  add("CPU and memory of machines", any.host, false);
  add("unused commitments, machine not told", any.unknown_commitment, false);
  add("other: storage, network, support, tax", any.other, false);
  table.total = Row{std::string("all bill lines"), total, part_of(total, total)};
  return table;
}

// Reached by every dimension, side by side.
Table summary_table(std::span<const Coverage> all, Currency currency, const std::string& what) {
  Table table;
  table.title = fmt::format("{}: how much of it reaches somebody", what);
  table.currency = currency;
  table.columns = {{"dimension", "dimension", ColumnKind::kText},
                   {"gpu_spend", "GPU spend", ColumnKind::kMoney},
                   {"reached", "reached", ColumnKind::kMoney},
                   {"by_spreading", "by spreading", ColumnKind::kMoney},
                   {"share", "of it", ColumnKind::kPercent},
                   {"gap", "gap", ColumnKind::kMoney},
                   {"largest", "most of the gap", ColumnKind::kText}};
  const bool spread = std::ranges::any_of(all, [&](const Coverage& one) {
    return one.spend.currency() == currency && !one.by_spreading.is_zero();
  });
  for (const Coverage& one : all) {
    if (one.spend.currency() != currency) continue;
    Row row = {one.dimension,
               one.spend,
               one.reached,
               one.by_spreading,
               part_of(one.reached + one.by_spreading, one.spend),
               one.gap_total(),
               one.gap.empty() ? std::string() : std::string(to_text(one.gap.front().reason))};
    if (!spread) row.erase(row.begin() + 3);
    table.rows.push_back(std::move(row));
  }
  if (!spread) table.columns.erase(table.columns.begin() + 3);
  return table;
}

// Of dimensions that stop in the same way one table is enough.
Table reasons_table(const Coverage& one, const std::vector<std::string>& dimensions) {
  const Currency currency = one.spend.currency();
  Table table;
  table.title =
      fmt::format("{}: where the gap stops, the most expensive first", fmt::join(dimensions, ", "));
  table.currency = currency;
  table.columns = {{"reason", "stops because", ColumnKind::kText},
                   effective_column(currency),
                   {"share", "of GPU spend", ColumnKind::kPercent}};
  for (const GapPart& part : one.gap) {
    table.rows.push_back(
        {std::string(to_text(part.reason)), part.effective, part_of(part.effective, one.spend)});
    table.notes.push_back(
        fmt::format("{}: {}", to_text(part.reason),
                    advice(part.reason, dimensions.size() == 1 ? dimensions.front() : "NAME")));
  }
  table.total = Row{std::string("gap"), one.gap_total(), part_of(one.gap_total(), one.spend)};
  return table;
}

std::string heading(const GapPlace& place) {
  if (place.reason == GapReason::kNoNode) return "GPU lines that join no node, by resource";
  return fmt::format("{}: who lacks the label", place.dimension);
}

std::vector<Table> place_tables(std::span<const GapPlace> places, const std::string& dimension,
                                Currency currency) {
  std::vector<Table> tables;
  for (const GapPlace& place : places) {
    if (place.dimension != dimension || place.effective.currency() != currency) continue;
    const std::string title = heading(place);
    if (tables.empty() || tables.back().title != title) {
      const bool is_line = place.reason == GapReason::kNoNode;
      tables.push_back({.title = title,
                        .currency = currency,
                        .columns = {{"place", is_line ? "resource" : "where", ColumnKind::kText},
                                    {"postings", "postings", ColumnKind::kCount},
                                    effective_column(currency),
                                    {"remark", is_line ? "service" : "labels that they have",
                                     ColumnKind::kText}},
                        .rows = {},
                        .total = std::nullopt,
                        .notes = {}});
    }
    tables.back().rows.push_back({place.place, place.things, place.effective, place.remark});
  }
  return tables;
}

std::vector<Currency> currencies_of(std::span<const Coverage> all) {
  std::vector<Currency> currencies;
  for (const Coverage& one : all) currencies.push_back(one.spend.currency());
  std::ranges::sort(currencies);
  const auto rest = std::ranges::unique(currencies);
  currencies.erase(rest.begin(), rest.end());
  return currencies;
}

}  // namespace

std::vector<Table> coverage_tables(std::span<const Coverage> all, std::span<const GapPlace> places,
                                   const std::string& what) {
  std::vector<Table> tables;
  for (const Currency currency : currencies_of(all)) {
    const auto first = std::ranges::find_if(
        all, [&](const Coverage& one) { return one.spend.currency() == currency; });
    tables.push_back(ledger_table(*first, what));
    // What does not belong to one dimension.
    for (Table& table : place_tables(places, "", currency)) tables.push_back(std::move(table));
    tables.insert(tables.begin() + (tables.size() > 1 ? 1 : 0), summary_table(all, currency, what));
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
      for (Table& table : place_tables(places, one->dimension, currency)) {
        tables.push_back(std::move(table));
      }
    }
  }
  return tables;
}

std::vector<Table> coverage_rows(std::span<const Coverage> all) {
  std::vector<Table> tables;
  for (const Currency currency : currencies_of(all)) {
    Table table;
    table.currency = currency;
    table.columns = {{"dimension", "dimension", ColumnKind::kText},
                     {"part", "part", ColumnKind::kText},
                     {"effective_cost", "effective", ColumnKind::kMoney}};
    for (const Coverage& one : all) {
      if (one.spend.currency() != currency) continue;
      table.rows.push_back({one.dimension, std::string("reached"), one.reached});
      table.rows.push_back({one.dimension, std::string("reached by spreading"), one.by_spreading});
      for (const GapPart& part : one.gap) {
        table.rows.push_back({one.dimension, std::string(to_text(part.reason)), part.effective});
      }
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace pennyweight
