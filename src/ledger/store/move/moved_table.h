// MovedTable: a table of a ledger in terms that DuckDB and ClickHouse share, so that its rows can
// be copied as they are, without building facts of them or recomputing anything.
//
// The stores differ only in how a row refers to its commit (DuckDB: by the number of an import or a
// run; ClickHouse: by a session) and in how a value is stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/store/clickhouse/tables.h"

namespace pennyweight::move {

// The type of a column, in any store.
enum class ValueKind {
  kText,
  kHash,
  kUInt64,
  kUInt32,
  kBool,
  kInstant,  // milliseconds since 1970
  kDate,     // days since 1970
  kDecimal,  // a count of 10^-18
  kWide,     // 127 bits
  kPairs,    // two texts each: labels, MIG instances
};

struct MovedColumn {
  std::string name;
  ValueKind kind = ValueKind::kText;
  bool nullable = false;
  // In ClickHouse: its index in TableSpec::columns, and its name there (kPairs are two adjacent
  // columns).
  std::size_t place = 0;
  std::string names;  // "labels_keys, labels_values"
};

// What kind of commit a row belongs to.
enum class EntryKind { kImport, kRun, kClosing, kInvoices };

struct MovedTable {
  std::string name;
  EntryKind entry_kind = EntryKind::kImport;
  std::vector<MovedColumn> columns;  // in ClickHouse's order, without the session
  // DuckDB's column with the number of the import or run; empty: there is none.
  std::string number;
  // An evenly distributed hash, by which rows are divided into pieces; empty: there are few rows.
  std::string slice_by;
  // ClickHouse partitions rows by the month of this column, a text or an instant; empty: it
  // doesn't.
  std::string month_of;
  // ClickHouse has one more column `day`, computed from this one; empty: it has not.
  std::string day_of;
  const TableSpec* spec = nullptr;

  // The index of a column. REQUIRES: it exists.
  std::size_t column(std::string_view column_name) const;
};

// Every table of a ledger, the short ones first: imports, runs, closings,
// invoices, …, facts, postings.
const std::vector<MovedTable>& moved_tables();
// Whether a table is a store's own: versions, the commit log, claims, plans and completions. A
// ledger without completions simply counts every scope as due.
bool is_not_moved(std::string_view table);

}  // namespace pennyweight::move
