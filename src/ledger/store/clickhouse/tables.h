// The tables of a ledger on ClickHouse, each defined once: for one server and for a cluster.
//
// Every row has the number of the session that wrote it, and counts only if the commit log has an
// entry of that session (snapshot.h). Types and statements work on ClickHouse 18.16 and on today's
// releases.
//
//   sharded     tables without a size limit: facts, postings. On a cluster every node has
//               `<t>_local`, and `<t>` distributes over them by a hash of the shard key
//   everywhere  small tables, with the same rows on every node
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clickhouse/block.h"

namespace pennyweight {

inline constexpr std::uint64_t kClickhouseSchemaVersion = 3;  // 2: strays, work; 3: statements

enum class TableSpread { kSharded, kEverywhere };

struct TableSpec {
  std::string name;
  std::vector<clickhouse::ColumnSpec> columns;  // the order of BlockWriter's columns
  std::string order_by;                         // "session, charge_id"
  std::string partition_by;                     // an expression; empty: none
  TableSpread spread = TableSpread::kEverywhere;
  std::string shard_key;  // of kSharded: an expression that cityHash64 takes
};

// Facts by their Table<Fact>::kName, "postings", and: log, runs, run_dimensions, imports,
// rejected_rows, retired_charges, closings, invoices, import_touches, work_claims, work_signs,
// work_done, work_plans, strays, schema_version. schema_version comes last: a node that has it has
// all the others.
const std::vector<TableSpec>& clickhouse_tables();
const TableSpec& clickhouse_table(std::string_view name);  // REQUIRES: one of them

// "a, b, c": for Client::insert and SELECT.
std::string column_names(const TableSpec& table);

// Where the tables are.
struct TableLayout {
  std::string database;
  std::string cluster;  // empty: one server
  bool is_cluster() const { return !cluster.empty(); }
};
// The table to read and write: "database.charges", on one server and on a cluster.
std::string all(const TableLayout& layout, std::string_view table);
// The part of it that one node holds: "database.charges_local".
std::string local(const TableLayout& layout, std::string_view table);
// The statements that create a table, in order. Send each to every node, or with `on_cluster` to
// any one node. Each may be sent again.
std::vector<std::string> create_statements(const TableSpec& table, const TableLayout& layout,
                                           bool on_cluster);

}  // namespace pennyweight
