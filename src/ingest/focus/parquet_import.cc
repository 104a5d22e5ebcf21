#include "ingest/focus/parquet_import.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "duckdb/database.h"
#include "duckdb/rows.h"
#include "ingest/csv/header.h"
#include "ingest/focus/batch.h"

namespace pennyweight::focus {
namespace {

// The SQL that turns a column of this type into the text that a CSV would hold.
std::string text_of(const std::string& column, std::string_view type) {
  if (type == "VARCHAR") return column;
  // FOCUS allows no '+' in an exponent, and DuckDB writes one.
  if (type == "DOUBLE" || type == "FLOAT")
    return fmt::format("replace({}::VARCHAR, 'e+', 'e')", column);
  // Without an extension the text of a TIMESTAMPTZ would follow the machine's zone.
  if (type == "TIMESTAMP WITH TIME ZONE") {
    return fmt::format("make_timestamp(epoch_us({}))::VARCHAR", column);
  }
  const bool nested =
      type.starts_with("MAP(") || type.starts_with("STRUCT(") || type.ends_with("[]");
  if (nested) return fmt::format("to_json({})::VARCHAR", column);
  return fmt::format("{}::VARCHAR", column);
}

struct Table {
  csv::Header header;
  std::string query;  // every column as text
};

Result<Table> describe(duckdb::Connection& connection, const std::string& source) {
  auto described = connection.query(
      "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM " + source + ")");
  if (!described) return std::unexpected(described.error());
  std::vector<std::string> names;
  std::string columns;
  while (true) {
    const auto more = described->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    for (std::uint64_t row = 0; row < described->size(); ++row) {
      names.emplace_back(described->column(0).text(row));
      if (!columns.empty()) columns += ", ";
      columns += text_of(duckdb::quote_identifier(names.back()), described->column(1).text(row));
    }
  }
  if (names.size() > limits::kColumnsMax) {
    return fail(ErrorCode::kLimit, fmt::format("more than {} columns", limits::kColumnsMax));
  }
  auto header = csv::Header::of(std::vector<std::string_view>(names.begin(), names.end()));
  if (!header) return std::unexpected(header.error());
  return Table{.header = std::move(*header), .query = "SELECT " + columns + " FROM " + source};
}

// The row as a person would look at it: its texts, comma by comma.
std::string text_of_row(const std::vector<std::string_view>& fields) {
  std::string text;
  for (const std::string_view& field : fields) {
    if (text.size() >= limits::kRejectedTextBytesMax) break;
    if (&field != &fields.front()) text += ',';
    text += field.substr(0, limits::kRejectedTextBytesMax);
  }
  return text;
}

// What the reader of CSV would refuse of a field, Parquet must not let through.
std::optional<Fault> unfit(const csv::Header& header, const std::vector<std::string_view>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].size() > limits::kFieldBytesMax) {
      return Fault{header.names()[i], fmt::format("{} bytes, more than the {} allowed",
                                                  fields[i].size(), limits::kFieldBytesMax)};
    }
    if (fields[i].find('\0') != std::string_view::npos) {
      return Fault{header.names()[i], "a NUL byte in the text; remove it"};
    }
  }
  return std::nullopt;
}

Result<ImportSummary> import_table(const std::string& path, ImportSink& sink) {
  auto database =
      duckdb::Database::open({.memory_bytes_max = std::uint64_t{512} << 20, .threads = 1});
  if (!database) return std::unexpected(database.error());
  auto connection = database->connect();
  if (!connection) return std::unexpected(connection.error());
  const std::string source =
      fmt::format("read_parquet({}, binary_as_string = true)", duckdb::quote_text(path));
  auto table = describe(*connection, source);
  if (!table) return std::unexpected(table.error());

  Batch batch(path, sink);
  if (auto ok = batch.header(table->header); !ok) return std::unexpected(std::move(ok.error()));
  auto rows = connection->query(table->query);
  if (!rows) return std::unexpected(rows.error());
  const std::size_t width = table->header.size();
  std::vector<std::string_view> fields(width);
  // A text of Parquet is a text, as one in quotes is in CSV; null has a mark of its own.
  const std::vector<std::uint8_t> quoted(width, 1);
  std::uint64_t number = 0;
  while (true) {
    const auto more = rows->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    std::vector<duckdb::Column> columns;
    columns.reserve(width);
    for (std::size_t i = 0; i < width; ++i) columns.push_back(rows->column(i));
    for (std::uint64_t row = 0; row < rows->size(); ++row) {
      for (std::size_t i = 0; i < width; ++i) {
        fields[i] = columns[i].is_null(row) ? std::string_view{} : columns[i].text(row);
      }
      ++number;
      auto fault = unfit(table->header, fields);
      if (!fault) fault = batch.take(0, fields, quoted);
      if (fault) {
        auto ok =
            batch.reject(0, std::move(fault->column),
                         fmt::format("row {}: {}", number, fault->reason), text_of_row(fields));
        if (!ok) return std::unexpected(std::move(ok.error()));
      }
      if (batch.is_full()) {
        if (auto ok = batch.flush(); !ok) return std::unexpected(std::move(ok.error()));
      }
    }
  }
  return batch.finish();
}

}  // namespace

Result<ImportSummary> import_parquet(const std::string& path, ImportSink& sink) {
  std::error_code no_such_file;
  if (!std::filesystem::is_regular_file(path, no_such_file)) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is not a file", path));
  }
  auto summary = import_table(path, sink);
  if (!summary) {
    // Behind its first line DuckDB shows the statement, which is ours and tells the reader nothing.
    Error error = std::move(summary.error());
    error.message = error.message.substr(0, error.message.find('\n'));
    return std::unexpected(error.during("cannot read " + path));
  }
  return summary;
}

}  // namespace pennyweight::focus
