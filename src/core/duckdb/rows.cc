#include "core/duckdb/rows.h"

#include <utility>

#include "core/interruption.h"

namespace pennyweight::duckdb {

Column::Column(duckdb_vector vector)
    : vector_(vector),
      data_(duckdb_vector_get_data(vector)),
      validity_(duckdb_vector_get_validity(vector)) {
  duckdb_logical_type logical = duckdb_vector_get_column_type(vector);
  type_ = duckdb_get_type_id(logical);
  if (type_ == DUCKDB_TYPE_DECIMAL) {
    physical_ = duckdb_decimal_internal_type(logical);
    scale_ = duckdb_decimal_scale(logical);
  }
  duckdb_destroy_logical_type(&logical);
}

Int128 Column::unscaled(std::uint64_t row) const {
  CHECK(type_ == DUCKDB_TYPE_DECIMAL, "the column is a decimal");
  switch (physical_) {
    case DUCKDB_TYPE_SMALLINT:
      return static_cast<const std::int16_t*>(data_)[row];
    case DUCKDB_TYPE_INTEGER:
      return static_cast<const std::int32_t*>(data_)[row];
    case DUCKDB_TYPE_BIGINT:
      return static_cast<const std::int64_t*>(data_)[row];
    default:
      return to_int128(static_cast<const duckdb_hugeint*>(data_)[row]);
  }
}

Hash128 Column::uuid(std::uint64_t row) const {
  const auto stored = value<duckdb_hugeint, DUCKDB_TYPE_UUID>(row);
  // The engine flips the top bit, so that its signed order is the order of the text.
  return {.high = static_cast<std::uint64_t>(stored.upper) ^ std::uint64_t{1} << 63,
          .low = stored.lower};
}

Rows::Rows(Rows&& other) noexcept
    : result_(other.result_),
      connection_(other.connection_),
      owns_(std::exchange(other.owns_, false)),
      chunk_(std::move(other.chunk_)),
      size_(std::exchange(other.size_, 0)) {}

Rows& Rows::operator=(Rows&& other) noexcept {
  std::swap(result_, other.result_);
  std::swap(connection_, other.connection_);
  std::swap(owns_, other.owns_);
  std::swap(chunk_, other.chunk_);
  std::swap(size_, other.size_);
  return *this;
}

Rows::~Rows() {
  chunk_.reset();
  if (owns_) duckdb_destroy_result(&result_);
}

std::uint64_t Rows::column_count() const { return duckdb_column_count(&result_); }

std::string_view Rows::column_name(std::uint64_t column) const {
  const char* name = duckdb_column_name(&result_, column);
  CHECK(name != nullptr, "the result has this column");
  return name;
}

duckdb_type Rows::column_type(std::uint64_t column) const {
  return duckdb_column_type(&result_, column);
}

Result<bool> Rows::next() {
  chunk_.reset();
  size_ = 0;
  if (Interruption::is_here()) return std::unexpected(interrupted_error());
  const Interruptible running([this] { duckdb_interrupt(connection_); });
  duckdb_data_chunk chunk = duckdb_fetch_chunk(result_);
  if (chunk == nullptr) {
    const char* message = duckdb_result_error(&result_);
    if (message != nullptr && *message != '\0') {
      return std::unexpected(to_error(duckdb_result_error_type(&result_), message));
    }
    return false;
  }
  chunk_.reset(chunk);
  size_ = duckdb_data_chunk_get_size(chunk);
  return size_ > 0;
}

Column Rows::column(std::uint64_t index) const {
  CHECK(chunk_ != nullptr, "a column is read from a chunk that next() gave");
  return Column(duckdb_data_chunk_get_vector(chunk_.get(), index));
}

namespace {
constexpr std::string_view kHasItOpen = "another process has the file open";
}

bool is_locked_by_another(const Error& error) {
  return error.message.find(kHasItOpen) != std::string::npos;
}

Error to_error(duckdb_error_type type, std::string_view message) {
  const auto says = [&](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  std::string text(message);
  if (says("Could not set lock on file")) {
    text += " (" + std::string(kHasItOpen) + "; stop it, or wait)";
    return {ErrorCode::kStore, text};
  }
  if (says("Corrupt database file") || says("Corrupt WAL file") || says("replaying WAL file")) {
    text +=
        " (the file is damaged, and was left as it is: keep a copy of it and of its .wal, restore "
        "a backup, or import the original files into a new one)";
    return {ErrorCode::kBadFile, text};
  }
  if (says("not a valid DuckDB database file") || says("Could not read enough bytes")) {
    return {ErrorCode::kBadFile, text};
  }
  if (says("No space left on device") || says("max_temp_directory_size")) {
    return {ErrorCode::kIo, text + " (the disk is full; make room and repeat: nothing was kept)"};
  }
  switch (type) {
    case DUCKDB_ERROR_INTERRUPT:
      return interrupted_error();
    case DUCKDB_ERROR_OUT_OF_MEMORY:
      return {ErrorCode::kLimit, text + " (allow the store more memory, or a temp directory)"};
    case DUCKDB_ERROR_IO:
    case DUCKDB_ERROR_PERMISSION:
      return {ErrorCode::kIo, text};
    case DUCKDB_ERROR_CONVERSION:
    case DUCKDB_ERROR_OUT_OF_RANGE:
    case DUCKDB_ERROR_DECIMAL:
    case DUCKDB_ERROR_INVALID_INPUT:
      return {ErrorCode::kBadValue, text};
    default:
      return {ErrorCode::kStore, text};
  }
}

}  // namespace pennyweight::duckdb
