#include "ledger/store/clickhouse/tables.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "ledger/store/clickhouse/column_io.h"
#include "ledger/store/clickhouse/log_table.h"

namespace pennyweight {
namespace {

// A replicated table recognises this many of its last blocks; the default is a hundred. An insert
// that its sender gave up and repeated elsewhere may still be under way while that many other
// blocks arrive.
constexpr const char* kBlocksKnownAgain = " SETTINGS replicated_deduplication_window = 1000";

// The UTC month of a column of milliseconds, as a number: 202603.
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

// The columns of a table whose rows begin with the session that wrote them.
template <class Record>
std::vector<clickhouse::ColumnSpec> session_columns() {
  clickhouse_io::Schema schema;
  schema.add("session", "UInt64");
  Table<Record>::list(schema);
  return schema.columns();
}

std::vector<clickhouse::ColumnSpec> rejected_row_columns() {
  clickhouse_io::Schema schema;
  schema.add("session", "UInt64");
  schema.add("row_id", clickhouse_io::kHash);
  Table<RejectedRow>::list(schema);
  return schema.columns();
}

std::vector<clickhouse::ColumnSpec> invalidation_columns() {
  clickhouse_io::Schema schema;
  schema.add("session", "UInt64");
  Table<Invalidation>::list(schema);
  schema.add("touched_at", "Int64");
  return schema.columns();
}

// A plan is one row for each of its scopes, and a head that is written last.
std::vector<clickhouse::ColumnSpec> plan_columns() {
  clickhouse_io::Schema schema;
  schema.add("plan", "UInt64");
  Table<WorkPlan>::list_month(schema);
  schema.add("is_head", "UInt8");
  Table<WorkPlan>::list_rest(schema);
  Table<PlannedScope>::list(schema);
  return schema.columns();
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
  // Lines that can conflict have the same natural key, so they are on one shard.
  tables.push_back(fact_table<Charge>("charge_id", "booked_month", "natural_key"));
  tables.push_back(fact_table<Holding>("cluster, workload, attempt", "", "holding_id"));
  tables.push_back(fact_table<Node>("cluster, name, valid_from", "", "node_id"));
  tables.push_back(fact_table<Gpu>("cluster, node, gpu_index, uuid, valid_from", "", "gpu_id"));
  // All rows of a GPU are on one shard. Days come before GPUs in the order, so that rows that
  // arrive every minute are merged with those of their own day only.
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
  tables.push_back(everywhere("log", "turn, position, kind",
                              clickhouse_io::Schema::of<commit_log::LogRow>().columns()));
  tables.push_back(everywhere("runs", "session", session_columns<RunRecord>()));
  tables.push_back(everywhere("run_dimensions", "session, dimension, workload",
                              session_columns<DimensionRecord>()));
  tables.push_back(everywhere("imports", "session", session_columns<ImportRecord>()));
  tables.push_back(everywhere("rejected_rows", "session, file, line", rejected_row_columns()));
  tables.push_back(
      everywhere("retired_charges", "session, charge_id", session_columns<RetirementRecord>()));
  tables.push_back(everywhere("closings", "session", session_columns<Closing>()));
  tables.push_back(everywhere("invoices", "session, number", session_columns<IssuedInvoice>()));
  tables.push_back(
      everywhere("import_touches", "session, touched, cluster, day", invalidation_columns()));
  tables.push_back(
      everywhere("work_claims", "cluster, month, number", session_columns<WorkClaim>()));
  tables.push_back(everywhere("work_signs", "claim, sign_at",
                              clickhouse_io::Schema::of<HeartbeatRecord>().columns()));
  tables.push_back(
      everywhere("work_done", "cluster, month, claim", session_columns<WorkCompletion>()));
  tables.push_back(everywhere("work_plans", "month, imports, plan", plan_columns()));
  tables.push_back(everywhere("strays", "session", {{"session", "UInt64"}, {"noted_at", "Int64"}}));
  tables.push_back(everywhere("schema_version", "version", {{"version", "UInt64"}}));
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

std::vector<std::string> create_statements(const TableSpec& table, const TableLayout& layout,
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
