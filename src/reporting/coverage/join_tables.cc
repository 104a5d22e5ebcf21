#include "reporting/coverage/join_tables.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "reporting/coverage/table_helpers.h"

namespace pennyweight {
namespace {

std::string resource_label(const UnmatchedResource& resource) {
  if (!resource.resource_id.empty()) return resource.resource_id;
  return resource.resource_name.empty() ? "(no resource)" : resource.resource_name;
}

std::string join_finding(const UnmatchedResource& resource) {
  if (resource.is_ambiguous) return "fits several nodes";
  return resource.is_compute ? "no node" : "no machine";
}

std::vector<Currency> resource_currencies(std::span<const UnmatchedResource> resources) {
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
    table.rows.push_back({resource_label(resource), resource.service_name, resource.lines,
                          resource.costs.billed, resource.costs.effective, join_finding(resource)});
  }
  table.total = Row{std::string("total"), std::string(),   lines,
                    total.billed,         total.effective, std::monostate{}};
  note_hidden_rows(table, hidden);
  return table;
}

}  // namespace

std::vector<Table> join_tables(const JoinFindings& findings, const std::string& period_label,
                               std::uint64_t top) {
  std::vector<Table> tables;
  for (const Currency currency : resource_currencies(findings.resources)) {
    for (const bool is_compute : {true, false}) {
      Table table = resources_table(findings.resources, currency, is_compute, top);
      if (table.rows.empty()) continue;
      table.title = is_compute
                        ? fmt::format("{}: bill lines of machines that join no node", period_label)
                        : fmt::format("{}: other bill lines without a node", period_label);
      if (is_compute) {
        table.notes.emplace_back(
            "machines: import their inventory, or configure join rules (docs/bills/join.md)");
      } else {
        table.notes.emplace_back("storage, network, support and tax have no node, and need none");
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
      table.title = fmt::format("{}: nodes without a bill line", period_label);
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
          "their bill is missing or names them differently; price machines that you own by a rate "
          "card");
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
    note_hidden_rows(table, hidden[currency]);
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
        .rows.push_back({std::string("line"), resource_label(resource), resource.service_name,
                         resource.lines, resource.costs.billed, resource.costs.effective,
                         std::monostate{}, join_finding(resource)});
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

}  // namespace pennyweight
