#include "store/clickhouse/tables.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "core/check.h"
#include "store/clickhouse/column_io.h"

namespace pennyweight {
namespace {

// A replicated table knows this many of its last blocks again; of itself it is a hundred. An insert
// that its sender gave up and sent elsewhere may still be on its way while as many others arrive.
constexpr const char* kBlocksKnownAgain = " SETTINGS replicated_deduplication_window = 1000";

// The month in UTC of a column of milliseconds, as a number: 202603.
std::string month_number(const std::string& column) {
  return "toYYYYMM(toDateTime(intDiv(" + column + ", 1000), 'UTC'))";
}

template <class Fact>
TableSpec fact_table(const std::string& order_by, const std::string& partition_by,
                     const std::string& shard_key) {
  return {.name = Table<Fact>::kName,
          .columns = clickhouse_fact_specs<Fact>(),
          .order_by = order_by,
          .partition_by = partition_by,
          .spread = TableSpread::kSharded,
          .shard_key = shard_key};
}

// Names of one type each.
std::vector<clickhouse::ColumnSpec> columns(
    std::initializer_list<std::pair<const char*, std::vector<const char*>>> types_and_names) {
  std::vector<clickhouse::ColumnSpec> specs;
  for (const auto& [type, names] : types_and_names) {
    for (const char* name : names) specs.push_back({name, type});
  }
  return specs;
}

TableSpec everywhere(const char* name, const char* order_by,
                     std::vector<clickhouse::ColumnSpec> specs) {
  return {.name = name,
          .columns = std::move(specs),
          .order_by = order_by,
          .partition_by = "",
          .spread = TableSpread::kEverywhere,
          .shard_key = ""};
}

std::vector<TableSpec> make_tables() {
  std::vector<TableSpec> tables;
  // Lines that can meet have one natural key, so they are on one shard.
  tables.push_back(fact_table<Charge>("charge_id", "booked_month", "natural_key"));
  tables.push_back(fact_table<Holding>("cluster, workload, attempt", "", "holding_id"));
  tables.push_back(fact_table<Node>("cluster, name, valid_from", "", "node_id"));
  tables.push_back(fact_table<Gpu>("cluster, node, gpu_index, uuid, valid_from", "", "gpu_id"));
  // A card is whole on a shard. Days before cards, so that what comes every minute meets the rows
  // of its day alone.
  tables.push_back(
      fact_table<Usage>("cluster, day, gpu, mig_instance, workload, observed_at, span_ms, part",
                        month_number("observed_at"), "cluster, gpu"));
  tables.push_back(fact_table<Outage>("cluster, node, gpu, out_from", "", "outage_id"));
  tables.push_back(fact_table<Correction>("cluster, name", "", "correction_id"));
  tables.push_back(fact_table<Outcome>("cluster, day, counted_from, outcome_id",
                                       month_number("counted_from"), "outcome_id"));
  tables.push_back({.name = Table<Posting>::kName,
                    .columns = clickhouse_posting_specs(),
                    .order_by = "session, charge_id",
                    .partition_by = month_number("posted_from"),
                    .spread = TableSpread::kSharded,
                    .shard_key = "charge_id"});
  constexpr const char* kHash = clickhouse_io::kHash;
  tables.push_back(everywhere("log", "turn, position, kind",
                              columns({{"String", {"kind"}},
                                       {"UInt64", {"turn", "writer", "position"}},
                                       {"String", {"prefix"}},
                                       {"UInt64", {"session"}},
                                       {"String", {"what"}},
                                       {"Int64", {"at"}}})));
  tables.push_back(
      everywhere("runs", "session",
                 columns({{"UInt64", {"session"}},
                          {"String", {"cluster", "month", "policy"}},
                          {kHash, {"policy_version", "catalog_version"}},
                          {"String", {"time_zone", "program_version"}},
                          {"Int64", {"made_at"}},
                          {"UInt64", {"postings"}},
                          {kHash, {"postings_digest", "dimensions_digest", "postings_sum"}}})));
  tables.push_back(everywhere(
      "run_dimensions", "session, dimension, workload",
      columns({{"UInt64", {"session"}}, {"String", {"workload", "dimension", "value"}}})));
  tables.push_back(everywhere("imports", "session",
                              columns({{"UInt64", {"session"}},
                                       {"String", {"format", "name"}},
                                       {kHash, {"file_hash"}},
                                       {"Int64", {"imported_at"}},
                                       {"UInt64",
                                        {"charges", "holdings", "nodes", "gpus", "usages",
                                         "outages", "corrections", "outcomes", "rejected"}},
                                       {"String", {"style", "reason"}},
                                       {"UInt64", {"removed", "reversed", "late"}}})));
  tables.push_back(everywhere("rejected_rows", "session, file, line",
                              columns({{"UInt64", {"session"}},
                                       {kHash, {"row_id"}},
                                       {"String", {"file"}},
                                       {"UInt64", {"line"}},
                                       {"String", {"column_name", "reason", "row_text"}}})));
  std::vector<clickhouse::ColumnSpec> retired =
      columns({{"UInt64", {"session"}}, {kHash, {"charge_id"}}});
  retired.push_back({"reversal", clickhouse_io::nullable(kHash)});
  tables.push_back(everywhere("retired_charges", "session, charge_id", std::move(retired)));
  tables.push_back(everywhere("closings", "session",
                              columns({{"UInt64", {"session"}},
                                       {"String", {"month"}},
                                       {"Int64", {"closed_at"}},
                                       {"String", {"closed_by", "reason"}},
                                       {"UInt64", {"last_import", "lines", "runs"}},
                                       {kHash, {"digest"}}})));
  tables.push_back(everywhere("invoices", "session, number",
                              columns({{"UInt64", {"session"}},
                                       {"String", {"number", "month", "customer"}},
                                       {"Int64", {"issued_at"}},
                                       {"String", {"document"}},
                                       {kHash, {"digest"}},
                                       {"String", {"refers_to"}}})));
  tables.push_back(everywhere("import_touches", "session, touched, cluster, day",
                              columns({{"UInt64", {"session"}},
                                       {"String", {"touched", "cluster"}},
                                       {"Int32", {"day"}},
                                       {"Int64", {"touched_at"}}})));
  tables.push_back(everywhere("work_claims", "cluster, month, number",
                              columns({{"UInt64", {"session", "number"}},
                                       {"String", {"cluster", "month", "worker"}},
                                       {"Int64", {"claimed_at"}},
                                       {"UInt64", {"lease_ms", "run"}}})));
  tables.push_back(everywhere(
      "work_signs", "claim, sign_at",
      columns({{"UInt64", {"claim", "sign"}}, {"Int64", {"sign_at"}}, {"UInt8", {"is_over"}}})));
  tables.push_back(everywhere("work_done", "cluster, month, claim",
                              columns({{"UInt64", {"session", "claim"}},
                                       {"String", {"cluster", "month"}},
                                       {"UInt64", {"run", "imports"}},
                                       {kHash, {"lines", "join_rules", "elsewhere"}},
                                       {"Int64", {"began_at", "done_at"}}})));
  tables.push_back(everywhere("work_plans", "month, imports, plan",
                              columns({{"UInt64", {"plan"}},
                                       {"String", {"month"}},
                                       {"UInt8", {"is_head"}},
                                       {"UInt64", {"imports"}},
                                       {kHash, {"join_rules"}},
                                       {"Int64", {"began_at", "planned_at"}},
                                       {"String", {"cluster"}},
                                       {"UInt64", {"line_count"}},
                                       {kHash, {"lines"}},
                                       {"Int64", {"reach_from", "reach_to"}}})));
  tables.push_back(
      everywhere("strays", "session", columns({{"UInt64", {"session"}}, {"Int64", {"noted_at"}}})));
  tables.push_back(everywhere("schema_version", "version", columns({{"UInt64", {"version"}}})));
  return tables;
}

}  // namespace

const std::vector<TableSpec>& clickhouse_tables() {
  static const std::vector<TableSpec> kTables = make_tables();
  return kTables;
}

const TableSpec& clickhouse_table(std::string_view name) {
  const auto found = std::ranges::find(clickhouse_tables(), name, &TableSpec::name);
  CHECK(found != clickhouse_tables().end(), "the table is one of ours");
  return *found;
}

std::string column_names(const TableSpec& table) {
  std::string names;
  for (const auto& column : table.columns) names += (names.empty() ? "" : ", ") + column.name;
  return names;
}

std::string all(const TableLayout& layout, std::string_view table) {
  return layout.database + "." + std::string(table);
}

std::string local(const TableLayout& layout, std::string_view table) {
  const bool in_parts =
      layout.is_cluster() && clickhouse_table(table).spread == TableSpread::kSharded;
  return all(layout, table) + (in_parts ? "_local" : "");
}

std::vector<std::string> creation_of(const TableSpec& table, const TableLayout& layout,
                                     bool on_cluster) {
  std::string definition;
  for (const auto& column : table.columns) {
    definition += (definition.empty() ? "" : ", ") + column.name + " " + column.type;
  }
  const auto create = [&](const std::string& name, const std::string& engine) {
    return "CREATE TABLE IF NOT EXISTS " + name +
           (on_cluster ? " ON CLUSTER " + layout.cluster : "") + " (" + definition +
           ") ENGINE = " + engine;
  };
  const std::string order =
      (table.partition_by.empty() ? "" : " PARTITION BY " + table.partition_by) + " ORDER BY (" +
      table.order_by + ")";
  const std::string own = local(layout, table.name);
  if (!layout.is_cluster()) return {create(own, "MergeTree()" + order)};
  const std::string folder = "/" + layout.database + "/" + table.name;
  if (table.spread == TableSpread::kEverywhere) {
    return {create(own, "ReplicatedMergeTree('/clickhouse/tables/everywhere" + folder +
                            "', '{shard}-{replica}')" + order + kBlocksKnownAgain)};
  }
  return {create(own, "ReplicatedMergeTree('/clickhouse/tables/{shard}" + folder +
                          "', '{replica}')" + order + kBlocksKnownAgain),
          create(all(layout, table.name), "Distributed(" + layout.cluster + ", " + layout.database +
                                              ", " + table.name + "_local, cityHash64(" +
                                              table.shard_key + "))")};
}

}  // namespace pennyweight
