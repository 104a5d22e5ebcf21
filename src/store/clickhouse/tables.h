// The tables of a ledger on ClickHouse, each defined once: for one server and for a cluster.
//
// Every row carries the number of the session that wrote it, and counts only when that session's
// entry in the log counts (snapshot.h). Types and statements are those that 18.16 knows as well as
// today's releases.
//
//   sharded     rows without end: facts, postings. On a cluster `<t>_local` on every node, and
//               `<t>` in front of them, by a hash of the shard key
//   everywhere  the small rest: the same rows on every node
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clickhouse/block.h"

namespace pennyweight {

inline constexpr std::uint64_t kClickhouseSchemaVersion = 2;  // 2: strays, work

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
// work_done, work_plans, strays, schema_version. The last is schema_version: a node that has it has
// all.
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
// What is asked and written: "database.charges". The same on one server and on a cluster.
std::string all(const TableLayout& layout, std::string_view table);
// What one node holds of it: "database.charges_local".
std::string local(const TableLayout& layout, std::string_view table);
// The statements that make a table, in their order, each to be sent to every node, or to any with
// `on_cluster`. Each may be sent again.
std::vector<std::string> creation_of(const TableSpec& table, const TableLayout& layout,
                                     bool on_cluster);

}  // namespace pennyweight
