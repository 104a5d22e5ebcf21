#include "core/duckdb/table_writer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/files/output_path.h"
#include "core/try.h"

namespace pennyweight::duckdb {
namespace {

const char* sql_type(ColumnType type) {
  switch (type) {
    case ColumnType::kText:
      return "VARCHAR";
    case ColumnType::kDecimal:
      return "DECIMAL(38,18)";
    case ColumnType::kInteger:
      return "BIGINT";
    case ColumnType::kTimestamp:
      return "TIMESTAMP_MS";
  }
  CHECK(false, "every type of column is listed");
}

// CSV has no types: a decimal is written with its shortest digits, a time as ISO 8601 in UTC.
std::string csv_expression(const TableColumn& column) {
  const std::string name = quote_identifier(column.name);
  switch (column.type) {
    case ColumnType::kText:
    case ColumnType::kInteger:
      return name;
    case ColumnType::kDecimal:
      return "rtrim(rtrim(CAST(" + name + " AS VARCHAR), '0'), '.') AS " + name;
    case ColumnType::kTimestamp:
      return "replace(strftime(CAST(" + name + " AS TIMESTAMP), '%Y-%m-%dT%H:%M:%S.%gZ'), " +
             "'.000Z', 'Z') AS " + name;
  }
  CHECK(false, "every type of column is listed");
}

// Parquet has a type for everything but the time zone of a TIMESTAMP_MS.
std::string parquet_expression(const TableColumn& column) {
  const std::string name = quote_identifier(column.name);
  if (column.type != ColumnType::kTimestamp) return name;
  return "CAST(" + name + " AS TIMESTAMP) AT TIME ZONE 'UTC' AS " + name;
}

std::string select_list(const std::vector<TableColumn>& columns, FileFormat format) {
  std::string list;
  for (const TableColumn& column : columns) {
    if (!list.empty()) list += ", ";
    list += format == FileFormat::kCsv ? csv_expression(column) : parquet_expression(column);
  }
  return list;
}

}  // namespace

Result<TableWriter> TableWriter::create(std::vector<TableColumn> columns,
                                        const std::string& temp_directory) {
  CHECK(!columns.empty(), "a table has columns");
  Database database =
      TRY(Database::open({.path = "", .threads = 1, .temp_directory = temp_directory}));
  Connection connection = TRY(database.connect());
  std::string definition;
  for (const TableColumn& column : columns) {
    if (!definition.empty()) definition += ", ";
    definition += quote_identifier(column.name) + " " + sql_type(column.type);
  }
  TRY(connection.execute("CREATE TABLE rows (" + definition + ")"));
  Appender appender = TRY(Appender::open(connection, "", "rows"));
  return TableWriter(std::move(database), std::move(connection), std::move(appender),
                     std::move(columns));
}

Result<void> TableWriter::append(std::span<const Cell> row) {
  CHECK(row.size() == columns_.size(), "a row has one cell a column");
  for (std::size_t i = 0; i < row.size(); ++i) {
    ColumnWriter column = appender_.column(i);
    const Cell& cell = row[i];
    if (std::holds_alternative<std::monostate>(cell)) {
      column.set_null(rows_);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      column.set_text(rows_, *text);
    } else if (const auto* decimal = std::get_if<Decimal>(&cell)) {
      column.set_decimal(rows_, decimal->ticks());
    } else if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
      column.set_int64(rows_, *integer);
    } else {
      column.set_timestamp_ms(rows_, std::get<Instant>(cell));
    }
  }
  if (++rows_ == Appender::kChunkRows) return append_chunk();
  return {};
}

Result<void> TableWriter::append_chunk() { return appender_.append(std::exchange(rows_, 0)); }

Result<void> TableWriter::write(const std::string& path, FileFormat format) {
  TRY(check_may_be_replaced(path));
  TRY(append_chunk());
  TRY(appender_.close());
  const std::string partial = path + ".partial";
  const std::string how =
      format == FileFormat::kCsv ? "(FORMAT csv, HEADER true)" : "(FORMAT parquet)";
  const Result<void> copied =
      connection_.execute("COPY (SELECT " + select_list(columns_, format) + " FROM rows) TO " +
                          quote_text(partial) + " " + how);
  std::error_code code;
  if (!copied) {
    std::filesystem::remove(partial, code);
    return std::unexpected(copied.error().during("cannot write " + path));
  }
  std::filesystem::rename(partial, path, code);
  if (code) {
    const std::string reason = code.message();
    std::filesystem::remove(partial, code);
    return fail(ErrorCode::kIo, "cannot write " + path + ": " + reason);
  }
  return {};
}

}  // namespace pennyweight::duckdb
