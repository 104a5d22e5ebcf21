#include "reporting/export/focus_parquet.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "core/check.h"
#include "core/duckdb/appender.h"
#include "core/duckdb/database.h"
#include "core/files/output_path.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{512} << 20;

const char* sql_type(FocusType type) {
  switch (type) {
    case FocusType::kString:
    case FocusType::kJson:
      return "VARCHAR";
    case FocusType::kDecimal:
      return "DECIMAL(38,18)";
    case FocusType::kDateTime:
      return "TIMESTAMP_MS";
  }
  CHECK(false, "every type is listed");
}

// A time in Parquet is in UTC when the file says so.
std::string expression(const FocusColumn& column) {
  const std::string name = duckdb::quote_identifier(column.name);
  if (column.type != FocusType::kDateTime) return name;
  return "CAST(" + name + " AS TIMESTAMP) AT TIME ZONE 'UTC' AS " + name;
}

}  // namespace

struct FocusParquet::State {
  duckdb::Database database;
  duckdb::Connection connection;
  std::optional<duckdb::Appender> appender;
  std::vector<FocusColumn> columns;
  std::uint64_t filling = 0;
};

FocusParquet::FocusParquet(std::unique_ptr<State> state) : state_(std::move(state)) {}
FocusParquet::FocusParquet(FocusParquet&&) noexcept = default;
FocusParquet& FocusParquet::operator=(FocusParquet&&) noexcept = default;
FocusParquet::~FocusParquet() = default;

Result<FocusParquet> FocusParquet::create(std::vector<FocusColumn> columns,
                                          const std::string& temp_directory) {
  CHECK(!columns.empty(), "a table has columns");
  auto database = TRY(duckdb::Database::open({.path = "",
                                              .read_only = false,
                                              .memory_bytes_max = kMemoryBytesMax,
                                              .threads = 1,
                                              .temp_directory = temp_directory,
                                              .keeps_insertion_order = true}));
  auto connection = TRY(database.connect());
  std::string definition;
  for (const FocusColumn& column : columns) {
    definition += definition.empty() ? "" : ", ";
    definition += duckdb::quote_identifier(column.name) + " " + sql_type(column.type);
  }
  TRY(connection.execute("CREATE TABLE rows (" + definition + ")"));
  auto state = std::make_unique<State>(State{.database = std::move(database),
                                             .connection = std::move(connection),
                                             .appender = std::nullopt,
                                             .columns = std::move(columns),
                                             .filling = 0});
  auto appender = TRY(duckdb::Appender::open(state->connection, "", "rows"));
  state->appender.emplace(std::move(appender));
  return FocusParquet(std::move(state));
}

Result<void> FocusParquet::append(std::span<const FocusCell> row) {
  CHECK(row.size() == state_->columns.size(), "a row has one cell a column");
  const std::uint64_t at = state_->filling;
  for (std::size_t i = 0; i < row.size(); ++i) {
    duckdb::ColumnWriter column = state_->appender->column(i);
    if (const auto* text = std::get_if<std::string>(&row[i])) {
      column.set_text(at, *text);
    } else if (const auto* number = std::get_if<Decimal>(&row[i])) {
      column.set_decimal(at, number->ticks());
    } else if (const auto* instant = std::get_if<Instant>(&row[i])) {
      column.set_timestamp_ms(at, *instant);
    } else {
      CHECK(std::holds_alternative<std::monostate>(row[i]), "no column of FOCUS is a count");
      column.set_null(at);
    }
  }
  if (++state_->filling < duckdb::Appender::kChunkRows) return {};
  return state_->appender->append(std::exchange(state_->filling, 0));
}

Result<void> FocusParquet::write(const std::string& path) {
  TRY(check_may_be_replaced(path));
  TRY(state_->appender->append(std::exchange(state_->filling, 0)));
  TRY(state_->appender->close());
  std::string list;
  for (const FocusColumn& column : state_->columns) {
    list += (list.empty() ? "" : ", ") + expression(column);
  }
  const std::string partial = path + ".partial";
  const auto copied = state_->connection.execute("COPY (SELECT " + list + " FROM rows) TO " +
                                                 duckdb::quote_text(partial) + " (FORMAT parquet)");
  std::error_code code;
  if (!copied) {
    std::filesystem::remove(partial, code);
    return std::unexpected(copied.error().during("cannot write " + path));
  }
  std::filesystem::rename(partial, path, code);
  if (!code) return {};
  const std::string reason = code.message();
  std::filesystem::remove(partial, code);
  return fail(ErrorCode::kIo, "cannot write " + path + ": " + reason);
}

}  // namespace pennyweight
