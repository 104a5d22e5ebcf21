#include "audit/audit_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/number_format.h"

namespace pennyweight {
namespace {

std::string number(std::uint64_t count) { return format_count(count, Thousands::kSeparated); }

void say_hidden(Table& table, std::uint64_t hidden) {
  if (hidden > 0) {
    table.notes.push_back(fmt::format("{} further rows; --top shows more", number(hidden)));
  }
}

std::string name_of(const UnmatchedResource& resource) {
  if (!resource.resource_id.empty()) return resource.resource_id;
  return resource.resource_name.empty() ? "(no resource)" : resource.resource_name;
}

std::string finding_of(const UnmatchedResource& resource) {
  if (resource.is_ambiguous) return "fits several nodes";
  return resource.is_compute ? "no node" : "no machine";
}

std::vector<Currency> currencies_of(std::span<const UnmatchedResource> resources) {
  std::set<Currency> all;
  for (const UnmatchedResource& resource : resources) all.insert(resource.costs.currency());
  return {all.begin(), all.end()};
}

Table resources_table(std::span<const UnmatchedResource> resources, Currency currency,
                      bool is_compute, std::uint64_t top) {
  Table table;
  table.currency = currency;
  table.columns = {{"resource", "resource", ColumnKind::kText},
                   {"service", "service", ColumnKind::kText},
                   {"lines", "bill lines", ColumnKind::kCount},
                   {"billed_cost", "billed " + currency.text(), ColumnKind::kMoney},
                   {"effective_cost", "effective " + currency.text(), ColumnKind::kMoney},
                   {"finding", "finding", ColumnKind::kText}};
  Costs total = Costs::zero(currency);
  std::uint64_t lines = 0;
  std::uint64_t hidden = 0;
  for (const UnmatchedResource& resource : resources) {
    if (resource.is_compute != is_compute || resource.costs.currency() != currency) continue;
    total += resource.costs;
    lines += resource.lines;
    if (table.rows.size() == top) {
      ++hidden;
      continue;
    }
    table.rows.push_back({name_of(resource), resource.service_name, resource.lines,
                          resource.costs.billed, resource.costs.effective, finding_of(resource)});
  }
  table.total = Row{std::string("total"), std::string(),   lines,
                    total.billed,         total.effective, std::monostate{}};
  say_hidden(table, hidden);
  return table;
}

// In hours with one digit, for the eye and for programs alike; money is exact beside it.
std::string hours(std::uint64_t ms) {
  const auto ticks =
      multiply_divide(UInt128{ms}, UInt128{Money::kTicksPerUnit}, UInt128{3'600'000}).quotient;
  return format_rounded(Decimal::from_ticks(static_cast<Int128>(ticks)), 1, Thousands::kPlain);
}

// People know a commitment by the end of its id; a program wants all of it.
std::string shown_id(const std::string& id, bool whole) {
  const std::size_t cut = id.find_last_of("/:");
  return whole || cut == std::string::npos || cut + 1 == id.size() ? id : id.substr(cut + 1);
}

Row commitment_cells(const CommitmentRow& row, bool whole_ids) {
  const Money taken = row.used + row.unused;
  return {shown_id(row.id, whole_ids),
          row.upfront + row.recurring + row.used_billed,
          row.used,
          row.unused,
          row.on_fee,
          row.difference(),
          taken.ticks() > 0 ? Cell(Ratio{row.used.ticks(), taken.ticks()}) : Cell(std::monostate{}),
          std::string(to_text(row.verdict()))};
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

std::vector<Table> join_tables(const JoinFindings& findings, const std::string& what,
                               std::uint64_t top) {
  std::vector<Table> tables;
  for (const Currency currency : currencies_of(findings.resources)) {
    for (const bool is_compute : {true, false}) {
      Table table = resources_table(findings.resources, currency, is_compute, top);
      if (table.rows.empty()) continue;
      table.title = is_compute ? fmt::format("{}: lines of machines that join no node", what)
                               : fmt::format("{}: other lines without a node", what);
      if (is_compute) {
        table.notes.emplace_back(
            "machines: import their inventory, or state join rules (docs/bills/join.md)");
      } else {
        table.notes.emplace_back("storage, network, support and tax rightly have no node");
      }
      tables.push_back(std::move(table));
    }
  }
  std::map<std::optional<Currency>, Table> nodes;
  std::map<std::optional<Currency>, std::uint64_t> hidden;
  for (const UnbilledNode& unbilled : findings.nodes) {
    std::optional<Currency> currency;
    if (unbilled.estimate) currency = unbilled.estimate->currency();
    Table& table = nodes[currency];
    if (table.columns.empty()) {
      table.title = fmt::format("{}: nodes without a line", what);
      table.currency = currency;
      table.columns = {{"cluster", "cluster", ColumnKind::kText},
                       {"node", "node", ColumnKind::kText},
                       {"pool", "pool", ColumnKind::kText},
                       {"provider_id", "provider id", ColumnKind::kText},
                       {"estimate", "at list", ColumnKind::kMoney}};
      if (currency) {
        table.total = Row{std::string("total"), std::string(), std::string(), std::string(),
                          Money::zero(*currency)};
      }
      table.notes.emplace_back(
          "their bill is missing, or names them otherwise; machines that you own are priced by a "
          "rate card");
    }
    if (unbilled.estimate) std::get<Money>(table.total->back()) += *unbilled.estimate;
    if (table.rows.size() == top) {
      ++hidden[currency];
      continue;
    }
    table.rows.push_back({unbilled.node.cluster.text(), unbilled.node.node.text(),
                          unbilled.node.pool.text(), unbilled.node.provider_id,
                          unbilled.estimate ? Cell(*unbilled.estimate) : Cell(std::monostate{})});
  }
  for (auto& [currency, table] : nodes) {
    say_hidden(table, hidden[currency]);
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<Table> join_rows(const JoinFindings& findings) {
  std::map<std::optional<Currency>, Table> tables;
  const auto table_of = [&](std::optional<Currency> currency) -> Table& {
    Table& table = tables[currency];
    if (table.columns.empty()) {
      table.currency = currency;
      table.columns = {{"side", "side", ColumnKind::kText},
                       {"what", "what", ColumnKind::kText},
                       {"of", "of", ColumnKind::kText},
                       {"lines", "lines", ColumnKind::kCount},
                       {"billed_cost", "billed", ColumnKind::kMoney},
                       {"effective_cost", "effective", ColumnKind::kMoney},
                       {"estimate", "at list", ColumnKind::kMoney},
                       {"finding", "finding", ColumnKind::kText}};
    }
    return table;
  };
  for (const UnmatchedResource& resource : findings.resources) {
    table_of(resource.costs.currency())
        .rows.push_back({std::string("line"), name_of(resource), resource.service_name,
                         resource.lines, resource.costs.billed, resource.costs.effective,
                         std::monostate{}, finding_of(resource)});
  }
  for (const UnbilledNode& unbilled : findings.nodes) {
    std::optional<Currency> currency;
    if (unbilled.estimate) currency = unbilled.estimate->currency();
    table_of(currency).rows.push_back(
        {std::string("node"), unbilled.node.node.text(), unbilled.node.cluster.text(),
         std::monostate{}, std::monostate{}, std::monostate{},
         unbilled.estimate ? Cell(*unbilled.estimate) : Cell(std::monostate{}),
         std::string("no line")});
  }
  std::vector<Table> all;
  for (auto& [currency, table] : tables) all.push_back(std::move(table));
  return all;
}

std::vector<Table> commitment_tables(std::span<const CommitmentRow> terms,
                                     std::span<const CommitmentRow> months, bool whole_ids) {
  std::vector<Table> tables;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Currency currency = terms[i].used.currency();
    if (i == 0 || terms[i - 1].used.currency() != currency) {
      tables.push_back(commitment_table(currency));
      tables.back().title = "commitments: what was paid, and what of it was used";
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
    const Int128 taken = used + std::get<Money>(total[3]).ticks();
    if (taken > 0) total[6] = Ratio{used, taken};
    table.notes = {
        "exact: used + unused is what was paid; paid ahead: later months take the rest of it",
        "paid earlier: takes its part of a payment that is not in this ledger"};
  }
  // By month only where there are several; one would say the same again.
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

std::vector<Table> estimate_tables(std::span<const EstimateRow> rows, bool by_node,
                                   const std::string& what, std::uint64_t top, bool with_hours) {
  std::vector<Table> tables;
  std::uint64_t hidden = 0;
  for (const EstimateRow& row : rows) {
    const Currency currency = row.bill.currency();
    const Money none = Money::zero(currency);
    if (tables.empty() || tables.back().currency != currency) {
      if (!tables.empty()) say_hidden(tables.back(), hidden);
      hidden = 0;
      Table& table = tables.emplace_back();
      table.title = fmt::format("{}: estimate at list, and the bill, {}", what, currency.text());
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
          "price: negotiated, spot, credits; hours: billed for others than the inventory has",
          "commitment: what it saves, and what of it is unused; missing: no line, node or price"};
    }
    Table& table = tables.back();
    Row cells = {by_node && !row.node.empty() ? row.node
                 : row.instance_type.empty()  ? std::string("(no type)")
                                              : row.instance_type,
                 hours(row.present_ms),
                 hours(row.billed_ms),
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
  if (!tables.empty()) say_hidden(tables.back(), hidden);
  if (with_hours) return tables;
  // For people: the money; hours are told by their price.
  for (Table& table : tables) {
    table.columns.erase(table.columns.begin() + 1, table.columns.begin() + 3);
    table.total->erase(table.total->begin() + 1, table.total->begin() + 3);
    for (Row& row : table.rows) row.erase(row.begin() + 1, row.begin() + 3);
  }
  return tables;
}

}  // namespace pennyweight
