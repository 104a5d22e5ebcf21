#include "ingest/bills/parquet_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/duckdb/database.h"
#include "core/duckdb/rows.h"
#include "core/limits.h"
#include "core/try.h"
#include "ingest/bills/row_importer.h"
#include "ingest/csv/header.h"

namespace pennyweight::bill {
namespace {

// The SQL that turns a column of this type into the text that a CSV would hold.
std::string text_sql(const std::string& column, std::string_view type) {
  if (type == "VARCHAR") return column;
  // FOCUS allows no '+' in an exponent, and DuckDB writes one.
  if (type == "DOUBLE" || type == "FLOAT")
    return fmt::format("replace({}::VARCHAR, 'e+', 'e')", column);
  // Without DuckDB's time zone extension, the text of a TIMESTAMPTZ follows the machine's zone.
  if (type == "TIMESTAMP WITH TIME ZONE") {
    return fmt::format("make_timestamp(epoch_us({}))::VARCHAR", column);
  }
  // DuckDB writes every digit of the column's scale, which a CSV of the same bill does not. At
  // least one digit stays after the point: "24.0".
  if (type.starts_with("DECIMAL(") && !type.ends_with(",0)")) {
    return fmt::format("regexp_replace({}::VARCHAR, '(\\.[0-9]+?)0+$', '\\1')", column);
  }
  const bool nested =
      type.starts_with("MAP(") || type.starts_with("STRUCT(") || type.ends_with("[]");
  if (nested) return fmt::format("to_json({})::VARCHAR", column);
  return fmt::format("{}::VARCHAR", column);
}

struct ParquetTable {
  csv::Header header;
  std::string query;  // every column as text
};

// DuckDB reads decimals of more than 38 digits as doubles, which 123.45 is none of.
Result<void> refuse_wide_decimals(duckdb::Connection& connection, const std::string& pattern) {
  auto found = TRY(connection.query("SELECT name, precision FROM parquet_schema(" +
                                    duckdb::quote_text(pattern) + ") WHERE precision > 38"));
  std::vector<std::string> wide;
  for (;;) {
    const bool more = TRY(found.next());
    if (!more) break;
    for (std::uint64_t row = 0; row < found.size(); ++row) {
      wide.emplace_back(found.column(0).text(row));
    }
  }
  if (wide.empty()) return {};
  return fail(
      ErrorCode::kBadFile,
      fmt::format("{} {} decimals of more than 38 digits, which can't be read to their last "
                  "digit; export {} as DECIMAL(38, 18) or as text, or the bill as CSV",
                  fmt::join(wide, ", "), wide.size() == 1 ? "holds" : "hold",
                  wide.size() == 1 ? "it" : "them"));
}

Result<ParquetTable> describe_table(duckdb::Connection& connection, const std::string& source) {
  auto described = TRY(connection.query(
      "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM " + source + ")"));
  std::vector<std::string> names;
  std::string columns;
  while (true) {
    const auto more = described.next();
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    for (std::uint64_t row = 0; row < described.size(); ++row) {
      names.emplace_back(described.column(0).text(row));
      if (!columns.empty()) columns += ", ";
      columns += text_sql(duckdb::quote_identifier(names.back()), described.column(1).text(row));
    }
  }
  if (names.size() > limits::kColumnsMax) {
    return fail(ErrorCode::kLimit, fmt::format("more than {} columns", limits::kColumnsMax));
  }
  auto header = TRY(csv::Header::of(std::vector<std::string_view>(names.begin(), names.end())));
  return ParquetTable{.header = std::move(header),
                      .query = "SELECT " + columns + " FROM " + source};
}

// The row for people to look at: its texts with commas between them.
std::string excerpt_of_row(const std::vector<std::string_view>& fields) {
  std::string text;
  for (const std::string_view& field : fields) {
    if (text.size() >= limits::kRejectedTextBytesMax) break;
    if (&field != &fields.front()) text += ',';
    text += field.substr(0, limits::kRejectedTextBytesMax);
  }
  return text;
}

// Parquet must not let through a field that the CSV reader would refuse.
std::optional<RowFault> find_bad_field(const csv::Header& header,
                                       const std::vector<std::string_view>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].size() > limits::kFieldBytesMax) {
      return RowFault{header.names()[i], fmt::format("{} bytes, more than the {} allowed",
                                                     fields[i].size(), limits::kFieldBytesMax)};
    }
    if (fields[i].find('\0') != std::string_view::npos) {
      return RowFault{header.names()[i], "a NUL byte in the text; remove it"};
    }
  }
  return std::nullopt;
}

Result<duckdb::Connection> connect(std::optional<duckdb::Database>& database) {
  auto opened =
      TRY(duckdb::Database::open({.memory_bytes_max = std::uint64_t{512} << 20, .threads = 1}));
  database.emplace(std::move(opened));
  return database->connect();
}

std::string name_as_pattern(const std::string& path) {
  std::string name;
  for (const char c : path) {
    const bool is_pattern = c == '*' || c == '?' || c == '[';
    name += is_pattern ? fmt::format("[{}]", c) : std::string(1, c);
  }
  return name;
}

// The file as a source of SQL, by its bytes alone. Folders such as BILLING_PERIOD=2026-03, into
// which AWS puts exports, do not become columns: the same file elsewhere would otherwise be another
// bill and count twice. A name with a * is the name of one file, not a pattern.
std::string source_sql(const std::string& path) {
  return fmt::format("read_parquet({}, binary_as_string = true, hive_partitioning = false)",
                     duckdb::quote_text(name_as_pattern(path)));
}

Result<ImportSummary> import_table(const std::string& path, const std::string& name,
                                   RowReaderFactory open_reader, ImportSink& sink) {
  std::optional<duckdb::Database> database;
  auto connection = TRY(connect(database));
  TRY(refuse_wide_decimals(connection, name_as_pattern(path)));
  auto table = TRY(describe_table(connection, source_sql(path)));

  RowImporter importer(name, std::move(open_reader), sink);
  TRY(importer.open(table.header));
  auto rows = connection.query(table.query);
  if (!rows) return std::unexpected(rows.error());
  const std::size_t width = table.header.size();
  std::vector<std::string_view> fields(width);
  // A text of Parquet is like a quoted one of CSV: null has a mark of its own.
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
      const auto text = [&fields] { return excerpt_of_row(fields); };
      Result<void> ok;
      if (auto fault = find_bad_field(table.header, fields)) {
        ok = importer.reject(0, std::move(fault->column), name_of_row() + fault->reason, text());
      } else {
        ok = importer.import_row(0, {fields, quoted}, name_of_row, text);
      }
      if (!ok) return std::unexpected(std::move(ok.error()));
    }
  }
  return importer.finish();
}

// After its first line, DuckDB shows the statement, which is ours and means nothing to the user.
std::unexpected<Error> cannot_read(const std::string& name, Error error) {
  error.message = error.message.substr(0, error.message.find('\n'));
  return std::unexpected(error.during("cannot read " + name));
}

Result<void> require_file(const std::string& path, const std::string& name) {
  std::error_code no_such_file;
  if (std::filesystem::is_regular_file(path, no_such_file)) return {};
  return fail(ErrorCode::kNotFound, fmt::format("{} is not a file", name));
}

}  // namespace

Result<ImportSummary> import_parquet(const std::string& path, const std::string& name,
                                     RowReaderFactory open_reader, ImportSink& sink) {
  TRY(require_file(path, name));
  auto summary = import_table(path, name, std::move(open_reader), sink);
  if (!summary) return cannot_read(name, std::move(summary.error()));
  return summary;
}

Result<bool> unpacks_to_more(const std::string& path, std::uint64_t bytes_max) {
  TRY(require_file(path, path));
  std::optional<duckdb::Database> database;
  auto connection = TRY(connect(database));
  auto found = connection.query(
      fmt::format("SELECT 'more' FROM (SELECT sum(greatest(total_uncompressed_size, num_values, "
                  "row_group_num_rows, 0)) AS bytes FROM parquet_metadata({})) WHERE bytes > {}",
                  duckdb::quote_text(name_as_pattern(path)), bytes_max));
  if (!found) return cannot_read(path, std::move(found.error()));
  auto more = found->next();
  if (!more) return cannot_read(path, std::move(more.error()));
  return *more && found->size() > 0;
}

Result<std::vector<std::string>> parquet_columns(const std::string& path) {
  TRY(require_file(path, path));
  std::optional<duckdb::Database> database;
  auto connection = TRY(connect(database));
  auto table = describe_table(connection, source_sql(path));
  if (!table) return cannot_read(path, std::move(table.error()));
  return table->header.names();
}

}  // namespace pennyweight::bill
