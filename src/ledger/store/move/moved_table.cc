#include "ledger/store/move/moved_table.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/check.h"
#include "ledger/store/clickhouse/column_io.h"

namespace pennyweight::move {
namespace {

// The properties that the tables' definitions do not state.
struct TableTraits {
  const char* name;
  EntryKind entry_kind;
  const char* number;
  const char* slice_by;
  const char* month_of;
  const char* day_of;
};
constexpr std::array kTableTraits = {
    TableTraits{"imports", EntryKind::kImport, "number", "", "", ""},
    TableTraits{"runs", EntryKind::kRun, "run_id", "", "", ""},
    TableTraits{"closings", EntryKind::kClosing, "", "", "", ""},
    TableTraits{"invoices", EntryKind::kInvoices, "", "", "", ""},
    TableTraits{"rejected_rows", EntryKind::kImport, "import_number", "row_id", "", ""},
    TableTraits{"retired_charges", EntryKind::kImport, "import_number", "charge_id", "", ""},
    TableTraits{"run_dimensions", EntryKind::kRun, "run_id", "", "", ""},
    TableTraits{"nodes", EntryKind::kImport, "import_number", "node_id", "", ""},
    TableTraits{"gpus", EntryKind::kImport, "import_number", "gpu_id", "", ""},
    TableTraits{"outages", EntryKind::kImport, "import_number", "outage_id", "", ""},
    TableTraits{"corrections", EntryKind::kImport, "import_number", "correction_id", "", ""},
    TableTraits{"holdings", EntryKind::kImport, "import_number", "holding_id", "", ""},
    TableTraits{"outcomes", EntryKind::kImport, "import_number", "outcome_id", "counted_from",
                "counted_from"},
    TableTraits{"usages", EntryKind::kImport, "import_number", "usage_id", "observed_at",
                "observed_at"},
    TableTraits{"charges", EntryKind::kImport, "import_number", "charge_id", "booked_month", ""},
    TableTraits{"postings", EntryKind::kRun, "run_id", "charge_id", "posted_from", ""},
};
constexpr std::array<std::string_view, 4> kNotMoved = {"log", "schema_version", "strays",
                                                       "import_touches"};
constexpr std::string_view kWorkTablePrefix = "work_";

bool cut_end(std::string& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.resize(text.size() - end.size());
  return true;
}

ValueKind kind_of(const std::string& type) {
  static const std::map<std::string, ValueKind> kKinds = {
      {"String", ValueKind::kText},
      {clickhouse_io::kHash, ValueKind::kHash},
      {"UInt64", ValueKind::kUInt64},
      {"UInt32", ValueKind::kUInt32},
      {"UInt8", ValueKind::kBool},
      {"Int64", ValueKind::kInstant},
      {"Int32", ValueKind::kDate},
      {clickhouse_io::kMoney, ValueKind::kDecimal},
      {clickhouse_io::kWide, ValueKind::kWide}};
  const auto found = kKinds.find(type);
  CHECK(found != kKinds.end(), "every type of a table's column is one that is moved");
  return found->second;
}

MovedColumn column_of(const std::vector<clickhouse::ColumnSpec>& specs, std::size_t place) {
  MovedColumn column{.name = specs[place].name,
                     .kind = ValueKind::kPairs,
                     .nullable = false,
                     .place = place,
                     .names = specs[place].name};
  if (specs[place].type == clickhouse_io::kTexts) {
    const bool named = cut_end(column.name, "_keys") || cut_end(column.name, "_ids");
    CHECK(named && place + 1 < specs.size(), "lists of texts come in pairs");
    column.names += ", " + specs[place + 1].name;
    return column;
  }
  std::string type = specs[place].type;
  constexpr std::string_view kNullable = "Nullable(";
  if (type.starts_with(kNullable)) {
    column.nullable = true;
    type = type.substr(kNullable.size(), type.size() - kNullable.size() - 1);
  }
  column.kind = kind_of(type);
  return column;
}

MovedTable table_of(const TableTraits& known) {
  MovedTable table{.name = known.name,
                   .entry_kind = known.entry_kind,
                   .columns = {},
                   .number = known.number,
                   .slice_by = known.slice_by,
                   .month_of = known.month_of,
                   .day_of = known.day_of,
                   .spec = &clickhouse_table(known.name)};
  const auto& specs = table.spec->columns;
  CHECK(specs.front().name == "session", "every row says by whom it was written");
  for (std::size_t place = 1; place < specs.size(); ++place) {
    if (specs[place].name == "day" && !table.day_of.empty()) continue;
    table.columns.push_back(column_of(specs, place));
    if (table.columns.back().kind == ValueKind::kPairs) ++place;
  }
  return table;
}

}  // namespace

std::size_t MovedTable::column(std::string_view column_name) const {
  const auto found = std::ranges::find(columns, column_name, &MovedColumn::name);
  CHECK(found != columns.end(), "the column is one of the table");
  return static_cast<std::size_t>(found - columns.begin());
}

const std::vector<MovedTable>& moved_tables() {
  static const std::vector<MovedTable> kTables = [] {
    std::vector<MovedTable> tables;
    for (const TableTraits& known : kTableTraits) tables.push_back(table_of(known));
    return tables;
  }();
  return kTables;
}

bool is_not_moved(std::string_view table) {
  return table.starts_with(kWorkTablePrefix) ||
         std::ranges::find(kNotMoved, table) != kNotMoved.end();
}

}  // namespace pennyweight::move
