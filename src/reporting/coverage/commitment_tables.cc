#include "reporting/coverage/commitment_tables.h"

#include <map>
#include <set>
#include <utility>

namespace pennyweight {
namespace {

// The last component of a commitment's id is what people recognise; programs get the whole id.
std::string commitment_label(const std::string& id, bool whole) {
  const std::size_t cut = id.find_last_of("/:");
  return whole || cut == std::string::npos || cut + 1 == id.size() ? id : id.substr(cut + 1);
}

Row commitment_cells(const CommitmentRow& row, bool whole_ids) {
  const Money amortised = row.used + row.unused;
  return {commitment_label(row.id, whole_ids),
          row.upfront + row.recurring + row.used_billed,
          row.used,
          row.unused,
          row.on_fee,
          row.difference(),
          amortised.ticks() > 0 ? Cell(Ratio{row.used.ticks(), amortised.ticks()})
                                : Cell(std::monostate{}),
          std::string(to_text(row.status()))};
}

Table commitment_table(Currency currency) {
  Table table;
  table.currency = currency;
  table.columns = {{"commitment", "commitment", ColumnKind::kText},
                   {"paid", "paid " + currency.text(), ColumnKind::kMoney},
                   {"used_effective", "used", ColumnKind::kMoney},
                   {"unused_effective", "unused", ColumnKind::kMoney},
                   {"fee_effective", "on the fee", ColumnKind::kMoney},
                   {"difference", "difference", ColumnKind::kMoney},
                   {"utilisation", "utilised", ColumnKind::kPercent},
                   {"finding", "finding", ColumnKind::kText}};
  return table;
}

}  // namespace

std::vector<Table> commitment_tables(std::span<const CommitmentRow> terms,
                                     std::span<const CommitmentRow> months, bool whole_ids) {
  std::vector<Table> tables;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Currency currency = terms[i].used.currency();
    if (i == 0 || terms[i - 1].used.currency() != currency) {
      tables.push_back(commitment_table(currency));
      tables.back().title = "commitments: paid and used";
      tables.back().total = Row{std::string("total"),  Money::zero(currency), Money::zero(currency),
                                Money::zero(currency), Money::zero(currency), Money::zero(currency),
                                std::monostate{},      std::string()};
    }
    Row cells = commitment_cells(terms[i], whole_ids);
    Row& total = *tables.back().total;
    for (std::size_t c = 1; c <= 5; ++c) std::get<Money>(total[c]) += std::get<Money>(cells[c]);
    tables.back().rows.push_back(std::move(cells));
  }
  for (Table& table : tables) {
    Row& total = *table.total;
    const Int128 used = std::get<Money>(total[2]).ticks();
    const Int128 amortised = used + std::get<Money>(total[3]).ticks();
    if (amortised > 0) total[6] = Ratio{used, amortised};
    table.notes = {"exact: used + unused equals paid; paid ahead: later months amortise the rest",
                   "paid earlier: amortises a payment that is not in this ledger"};
  }
  // A table by month only where there are several months; for one it would repeat the first table.
  std::set<std::string> names;
  for (const CommitmentRow& row : months) names.insert(row.month);
  if (names.size() < 2) return tables;
  std::map<Currency, Table> by_month;
  for (const CommitmentRow& row : months) {
    Table& table = by_month[row.used.currency()];
    if (table.columns.empty()) {
      table = commitment_table(row.used.currency());
      table.title = "commitments by billing month";
      table.columns.insert(table.columns.begin(), {"month", "month", ColumnKind::kText});
    }
    Row cells = commitment_cells(row, whole_ids);
    cells.insert(cells.begin(), row.month);
    table.rows.push_back(std::move(cells));
  }
  for (auto& [currency, table] : by_month) tables.push_back(std::move(table));
  return tables;
}

}  // namespace pennyweight
