#include "reporting/reconcile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reporting/number_format.h"

namespace pennyweight {
namespace {

struct NamedCost {
  const char* name;
  Money Costs::* cost;
};

constexpr NamedCost kCosts[] = {{"billed", &Costs::billed},
                                {"effective", &Costs::effective},
                                {"list", &Costs::list},
                                {"contracted", &Costs::contracted}};

Table totals_table(const std::string& month, const ReconcileTotals& totals) {
  const Currency currency = totals.billed_lines.currency();
  Table table;
  table.currency = currency;
  const auto number = [](std::uint64_t count) {
    return format_count(count, Thousands::kSeparated);
  };
  table.title = fmt::format("{}, {}: {}, {} exact, {} off, {} of them never allocated",
                            month_label(month), currency.text(), counted(totals.lines, "bill line"),
                            number(totals.lines - totals.lines_off), number(totals.lines_off),
                            number(totals.lines_unposted));
  table.columns = {{"cost", "cost", ColumnKind::kText},
                   {"lines", "bill lines", ColumnKind::kExactMoney},
                   {"posted", "postings", ColumnKind::kExactMoney},
                   {"difference", "difference", ColumnKind::kExactMoney}};
  for (const auto& [name, cost] : kCosts) {
    const Money lines = totals.billed_lines.*cost;
    const Money posted = totals.posted.*cost;
    table.rows.push_back({std::string(name), lines, posted, posted - lines});
  }
  return table;
}

std::string source_line_text(const LineCheck& line) {
  return line.charge.source.line == 0 ? "" : std::to_string(line.charge.source.line);
}

}  // namespace

std::vector<Table> reconcile_tables(const std::string& month,
                                    std::span<const ReconcileTotals> totals) {
  std::vector<Table> tables;
  for (const ReconcileTotals& of_currency : totals) {
    tables.push_back(totals_table(month, of_currency));
  }
  return tables;
}

std::vector<Table> charge_check_tables(const std::string& title, std::span<const LineCheck> lines) {
  std::map<Currency, Table> by_currency;
  for (const LineCheck& line : lines) {
    const Currency currency = line.charge.costs.currency();
    Table& table = by_currency[currency];
    if (table.columns.empty()) {
      table.title = title;
      table.currency = currency;
      table.columns = {{"charge", "charge", ColumnKind::kId},
                       {"file_line", "line", ColumnKind::kText},
                       {"resource", "resource", ColumnKind::kText},
                       {"description", "description", ColumnKind::kText},
                       {"postings", "postings", ColumnKind::kCount},
                       {"effective_cost", "effective", ColumnKind::kExactMoney},
                       {"effective_posted", "posted", ColumnKind::kExactMoney},
                       {"finding", "finding", ColumnKind::kText}};
    }
    const std::string finding = describe_differences(line);
    table.rows.push_back({to_text(line.charge.id), source_line_text(line), line.charge.resource_id,
                          line.charge.charge_description, line.postings,
                          line.charge.costs.effective, line.posted.effective,
                          finding.empty() ? std::string("exact") : finding});
  }
  std::vector<Table> tables;
  for (auto& [currency, table] : by_currency) tables.push_back(std::move(table));
  return tables;
}

Table rejected_table(std::span<const RejectedRow> rows) {
  Table table;
  table.title = "rows set aside by imports";
  table.columns = {{"file", "file", ColumnKind::kText},
                   {"line", "line", ColumnKind::kText},
                   {"column", "column", ColumnKind::kText},
                   {"reason", "reason", ColumnKind::kText}};
  for (const RejectedRow& row : rows) {
    table.rows.push_back({row.file, row.line == 0 ? std::string() : std::to_string(row.line),
                          row.column, row.reason});
  }
  return table;
}

std::string describe_differences(const LineCheck& line) {
  if (line.postings == 0) return "never allocated";
  std::string text;
  for (const auto& [name, cost] : kCosts) {
    const Money difference = line.posted.*cost - line.charge.costs.*cost;
    if (difference.is_zero()) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} off by {}", name, to_text(difference.amount()));
  }
  return text;
}

}  // namespace pennyweight
