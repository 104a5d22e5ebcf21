#include "ingest/bill/parquet_import.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "duckdb/database.h"
#include "duckdb/rows.h"
#include "ingest/bill/batch.h"
#include "ingest/csv/header.h"

namespace pennyweight::bill {
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
  // With every digit of the column's scale "24.0" would be another text than in a CSV; one digit
  // after the point stays.
  if (type.starts_with("DECIMAL(") && !type.ends_with(",0)")) {
    return fmt::format("regexp_replace({}::VARCHAR, '(\\.[0-9]+?)0+$', '\\1')", column);
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

Result<duckdb::Connection> connect(std::optional<duckdb::Database>& database) {
  auto opened =
      duckdb::Database::open({.memory_bytes_max = std::uint64_t{512} << 20, .threads = 1});
  if (!opened) return std::unexpected(opened.error());
  database.emplace(std::move(*opened));
  return database->connect();
}

// The file by its bytes alone. Folders such as BILLING_PERIOD=2026-03, into which AWS puts exports,
// are no columns: the same file would be another bill elsewhere, and count twice. And a name with *
// is one file's.
std::string source_of(const std::string& path) {
  std::string name;
  for (const char c : path) {
    const bool is_pattern = c == '*' || c == '?' || c == '[';
    name += is_pattern ? fmt::format("[{}]", c) : std::string(1, c);
  }
  return fmt::format("read_parquet({}, binary_as_string = true, hive_partitioning = false)",
                     duckdb::quote_text(name));
}

Result<ImportSummary> import_table(const std::string& path, BillReader& reader, ImportSink& sink) {
  std::optional<duckdb::Database> database;
  auto connection = connect(database);
  if (!connection) return std::unexpected(connection.error());
  auto table = describe(*connection, source_of(path));
  if (!table) return std::unexpected(table.error());

  Batch batch(path, reader, sink);
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
      const auto name_of_row = [&number] { return fmt::format("row {}: ", number); };
      const auto text = [&fields] { return text_of_row(fields); };
      Result<void> ok;
      if (auto fault = unfit(table->header, fields)) {
        ok = batch.reject(0, std::move(fault->column), name_of_row() + fault->reason, text());
      } else {
        ok = batch.take(0, {fields, quoted}, name_of_row, text);
      }
      if (!ok) return std::unexpected(std::move(ok.error()));
    }
  }
  return batch.finish();
}

// Behind its first line DuckDB shows the statement, which is ours and tells the reader nothing.
std::unexpected<Error> cannot_read(const std::string& path, Error error) {
  error.message = error.message.substr(0, error.message.find('\n'));
  return std::unexpected(error.during("cannot read " + path));
}

Result<void> must_be_file(const std::string& path) {
  std::error_code no_such_file;
  if (std::filesystem::is_regular_file(path, no_such_file)) return {};
  return fail(ErrorCode::kNotFound, fmt::format("{} is not a file", path));
}

}  // namespace

Result<ImportSummary> import_parquet(const std::string& path, BillReader& reader,
                                     ImportSink& sink) {
  if (auto ok = must_be_file(path); !ok) return std::unexpected(ok.error());
  auto summary = import_table(path, reader, sink);
  if (!summary) return cannot_read(path, std::move(summary.error()));
  return summary;
}

Result<std::vector<std::string>> parquet_columns(const std::string& path) {
  if (auto ok = must_be_file(path); !ok) return std::unexpected(ok.error());
  std::optional<duckdb::Database> database;
  auto connection = connect(database);
  if (!connection) return std::unexpected(connection.error());
  auto table = describe(*connection, source_of(path));
  if (!table) return cannot_read(path, std::move(table.error()));
  return table->header.names();
}

}  // namespace pennyweight::bill
