// MovedTable: a table of a ledger as every keeper that has tables understands it, so that its rows
// can go from one to another as they are: no fact is made of them, and nothing is worked out anew.
//
// What differs between keepers is only how a row says who brought it (DuckDB: the number of an
// import or a run; ClickHouse: a session) and how a value is written down.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/clickhouse/tables.h"

namespace pennyweight::move {

// What a column holds, whatever a keeper's name for the type is.
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
  // Of ClickHouse: which column of TableSpec::columns it is, and what it is called there (kPairs
  // are two columns, the second behind the first).
  std::size_t place = 0;
  std::string names;  // "labels_keys, labels_values"
};

// Whose act it was that a row came to be.
enum class Act { kImport, kRun, kClosing, kInvoices };

struct MovedTable {
  std::string name;
  Act act = Act::kImport;
  std::vector<MovedColumn> columns;  // in ClickHouse's order, but for the session
  // DuckDB's column with the number of the import or run; empty: the rows do not say.
  std::string number;
  // A fingerprint that spreads evenly, by which rows are cut into pieces; empty: there are few.
  std::string slice_by;
  // ClickHouse keeps rows apart by the month of this column, a text or an instant; empty: it does
  // not.
  std::string month_of;
  // ClickHouse has a further column `day`, worked out from this one; empty: it has not.
  std::string day_of;
  const TableSpec* spec = nullptr;

  // The index of a column. REQUIRES: there is one of that name.
  std::size_t column(std::string_view column_name) const;
};

// Every table whose rows a ledger consists of, the short ones first: imports, runs, closings,
// invoices, …, facts, postings.
const std::vector<MovedTable>& moved_tables();
// The tables of a keeper that are its own business: versions, the log of commits, who works on what
// and what of it is due. Where nothing is known of that, everything is due.
bool is_left_behind(std::string_view table);

}  // namespace pennyweight::move
