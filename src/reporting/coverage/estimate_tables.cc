#include "reporting/coverage/estimate_tables.h"

#include <fmt/format.h>

#include <utility>

#include "reporting/coverage/table_helpers.h"

namespace pennyweight {
namespace {

// Hours with one digit after the point, in every format; the money beside them is exact.
std::string format_hours(std::uint64_t ms) {
  const auto ticks =
      multiply_divide(UInt128{ms}, UInt128{Money::kTicksPerUnit}, UInt128{3'600'000}).quotient;
  return format_rounded(Decimal::from_ticks(static_cast<Int128>(ticks)), 1, Thousands::kPlain);
}

}  // namespace

std::vector<Table> estimate_tables(std::span<const EstimateComparisonRow> rows, bool by_node,
                                   const std::string& period_label, std::uint64_t top,
                                   bool with_hours) {
  std::vector<Table> tables;
  std::uint64_t hidden = 0;
  for (const EstimateComparisonRow& row : rows) {
    const Currency currency = row.bill.currency();
    const Money none = Money::zero(currency);
    if (tables.empty() || tables.back().currency != currency) {
      if (!tables.empty()) note_hidden_rows(tables.back(), hidden);
      hidden = 0;
      Table& table = tables.emplace_back();
      table.title =
          fmt::format("{}: estimate at list prices and bill, {}", period_label, currency.text());
      table.currency = currency;
      table.columns = {{by_node ? "node" : "instance_type", by_node ? "node" : "instance type",
                        ColumnKind::kText},
                       {"hours_present", "hours", ColumnKind::kText},
                       {"hours_billed", "billed", ColumnKind::kText},
                       {"estimate", "estimate", ColumnKind::kMoney},
                       {"bill", "bill", ColumnKind::kMoney},
                       {"difference", "difference", ColumnKind::kMoney},
                       {"price", "price", ColumnKind::kMoney},
                       {"hours", "hours", ColumnKind::kMoney},
                       {"commitment", "commitment", ColumnKind::kMoney},
                       {"missing", "missing", ColumnKind::kMoney},
                       {"finding", "finding", ColumnKind::kText}};
      table.total = Row{std::string("total"),
                        std::string(),
                        std::string(),
                        none,
                        none,
                        none,
                        none,
                        none,
                        none,
                        none,
                        std::string()};
      table.notes = {
          "difference = price + hours + commitment + missing, to the last digit",
          "price: negotiated, spot, credits; hours: the bill has other hours than the inventory",
          "commitment: savings and unused commitment; missing: no bill line, node or price"};
    }
    Table& table = tables.back();
    Row cells = {by_node && !row.node.empty() ? row.node
                 : row.instance_type.empty()  ? std::string("(no type)")
                                              : row.instance_type,
                 format_hours(row.present_ms),
                 format_hours(row.billed_ms),
                 row.estimate,
                 row.bill,
                 row.difference(),
                 row.price,
                 row.hours,
                 row.commitment,
                 row.missing,
                 row.note};
    for (std::size_t c = 3; c <= 9; ++c)
      std::get<Money>((*table.total)[c]) += std::get<Money>(cells[c]);
    if (table.rows.size() == top) {
      ++hidden;
    } else {
      table.rows.push_back(std::move(cells));
    }
  }
  if (!tables.empty()) note_hidden_rows(tables.back(), hidden);
  if (with_hours) return tables;
  // People see the money only; the column `hours` shows what the difference in hours costs.
  for (Table& table : tables) {
    table.columns.erase(table.columns.begin() + 1, table.columns.begin() + 3);
    table.total->erase(table.total->begin() + 1, table.total->begin() + 3);
    for (Row& row : table.rows) row.erase(row.begin() + 1, row.begin() + 3);
  }
  return tables;
}

}  // namespace pennyweight
