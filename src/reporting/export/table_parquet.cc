#include "reporting/export/table_parquet.h"

#include <utility>
#include <vector>

#include "core/check.h"
#include "core/decimal.h"
#include "core/duckdb/table_writer.h"
#include "core/try.h"
#include "reporting/hour_ratio.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using duckdb::ColumnType;
using FileCell = duckdb::Cell;

bool is_money(const Column& column) {
  return column.kind == ColumnKind::kMoney || column.kind == ColumnKind::kExactMoney;
}

std::vector<duckdb::TableColumn> parquet_columns(const Table& table) {
  std::vector<duckdb::TableColumn> columns;
  bool has_currency = false;
  for (const Column& column : table.columns) {
    if (is_money(column) && !has_currency) {
      columns.push_back({"currency", ColumnType::kText});
      has_currency = true;
    }
    switch (column.kind) {
      case ColumnKind::kText:
      case ColumnKind::kId:
        columns.push_back({column.name, ColumnType::kText});
        break;
      case ColumnKind::kMoney:
      case ColumnKind::kExactMoney:
      case ColumnKind::kPercent:
        columns.push_back({column.name, ColumnType::kDecimal});
        break;
      case ColumnKind::kGpuHours:
        columns.push_back({column.name, ColumnType::kDecimal});
        columns.push_back({column.name + "_exact", ColumnType::kText});
        break;
      case ColumnKind::kCount:
        columns.push_back({column.name, ColumnType::kInteger});
        break;
    }
  }
  return columns;
}

// Parses text that we wrote, so it is a decimal.
FileCell parse_decimal_cell(const std::string& text) {
  const auto value = parse_exact_decimal(text);
  CHECK(value.has_value(), "what we write as a number is one");
  return *value;
}

struct Appender {
  std::vector<FileCell>& row;
  ColumnKind kind;

  void operator()(std::monostate) const {
    row.emplace_back();
    if (kind == ColumnKind::kGpuHours) row.emplace_back();
  }
  void operator()(const std::string& text) const { row.emplace_back(text); }
  void operator()(const Money& money) const { row.emplace_back(money.amount()); }
  void operator()(const GpuTime& time) const {
    row.push_back(parse_decimal_cell(format_gpu_hours(time, 4, Thousands::kPlain)));
    row.emplace_back(exact_gpu_hours(time));
  }
  void operator()(const Ratio& ratio) const {
    if (kind == ColumnKind::kGpuHours) {
      row.push_back(parse_decimal_cell(format_hours(ratio, Thousands::kPlain)));
      row.emplace_back(exact_hours(ratio));
      return;
    }
    const auto percent = format_percent(ratio.part, ratio.whole, 4);
    row.push_back(percent ? parse_decimal_cell(*percent) : FileCell());
  }
  void operator()(std::uint64_t count) const { row.emplace_back(static_cast<std::int64_t>(count)); }
};

std::vector<FileCell> parquet_cells(const Table& table, const Row& row) {
  std::vector<FileCell> cells;
  bool has_currency = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (is_money(table.columns[i]) && !has_currency) {
      cells.push_back(table.currency ? FileCell(table.currency->text()) : FileCell());
      has_currency = true;
    }
    std::visit(Appender{cells, table.columns[i].kind}, row[i]);
  }
  return cells;
}

}  // namespace

Result<void> write_parquet(std::span<const Table> tables, const std::string& path) {
  if (tables.empty())
    return fail(ErrorCode::kNotFound, "the report is empty: there is nothing to write");
  auto writer = TRY(duckdb::TableWriter::create(parquet_columns(tables.front()), path + ".spill"));
  for (const Table& table : tables) {
    CHECK(table.columns.size() == tables.front().columns.size(), "tables of one report");
    for (const Row& row : table.rows) {
      TRY(writer.append(parquet_cells(table, row)));
    }
  }
  return writer.write(path, duckdb::FileFormat::kParquet);
}

}  // namespace pennyweight
