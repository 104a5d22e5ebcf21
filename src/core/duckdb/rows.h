// Rows: the result of a query, chunk by chunk (at most 2048 rows each) and column by column.
//
// The result is streamed: memory holds one chunk, whatever its size. Until it is read to the end
// its connection must do nothing else, since that would end the stream.
//
//   while (true) {
//     const Result<bool> more = rows.next();
//     if (!more) return std::unexpected(more.error());
//     if (!*more) break;
//     const Column names = rows.column(0);
//     for (std::uint64_t row = 0; row < rows.size(); ++row) use(names.text(row));
//   }
#pragma once

#include <duckdb.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/decimal.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/instant.h"
#include "core/int128.h"

namespace pennyweight::duckdb {

// One column of one chunk; valid until Rows::next(). Each reader REQUIRES the SQL type that it
// names and a row that is not null.
class Column {
 public:
  explicit Column(duckdb_vector vector);

  duckdb_type type() const { return type_; }
  bool is_null(std::uint64_t row) const {
    return validity_ != nullptr && (validity_[row / 64] >> (row % 64) & 1) == 0;
  }
  std::string_view text(std::uint64_t row) const {  // VARCHAR, BLOB
    CHECK(type_ == DUCKDB_TYPE_VARCHAR || type_ == DUCKDB_TYPE_BLOB, "the column is text");
    const duckdb_string_t& string = static_cast<const duckdb_string_t*>(data_)[row];
    const std::uint32_t length = string.value.inlined.length;
    return {length <= sizeof string.value.inlined.inlined ? string.value.inlined.inlined
                                                          : string.value.pointer.ptr,
            length};
  }
  bool boolean(std::uint64_t row) const { return value<bool, DUCKDB_TYPE_BOOLEAN>(row); }
  std::int32_t int32(std::uint64_t row) const {
    return value<std::int32_t, DUCKDB_TYPE_INTEGER>(row);
  }
  std::uint32_t uint32(std::uint64_t row) const {
    return value<std::uint32_t, DUCKDB_TYPE_UINTEGER>(row);
  }
  std::int64_t int64(std::uint64_t row) const {
    return value<std::int64_t, DUCKDB_TYPE_BIGINT>(row);
  }
  std::uint64_t uint64(std::uint64_t row) const {
    return value<std::uint64_t, DUCKDB_TYPE_UBIGINT>(row);
  }
  Int128 hugeint(std::uint64_t row) const {
    const auto huge = value<duckdb_hugeint, DUCKDB_TYPE_HUGEINT>(row);
    return to_int128(huge);
  }
  // The digits of a DECIMAL of any width, without its point: a count of 10^-scale.
  Int128 unscaled(std::uint64_t row) const;
  std::uint8_t scale() const { return scale_; }
  Instant timestamp_ms(std::uint64_t row) const {  // TIMESTAMP_MS
    return from_unix_ms(value<std::int64_t, DUCKDB_TYPE_TIMESTAMP_MS>(row));
  }
  std::int64_t timestamp_micros(std::uint64_t row) const {  // TIMESTAMP and TIMESTAMPTZ
    CHECK(type_ == DUCKDB_TYPE_TIMESTAMP || type_ == DUCKDB_TYPE_TIMESTAMP_TZ,
          "the column is a timestamp");
    return static_cast<const std::int64_t*>(data_)[row];
  }
  std::chrono::sys_days date(std::uint64_t row) const {
    return std::chrono::sys_days(std::chrono::days(value<std::int32_t, DUCKDB_TYPE_DATE>(row)));
  }
  Hash128 uuid(std::uint64_t row) const;

  // MAP(VARCHAR, VARCHAR) and LIST(STRUCT of two VARCHARs): visit(first, second) in order.
  template <class Visit>
  void visit_pairs(std::uint64_t row, const Visit& visit) const {
    CHECK(type_ == DUCKDB_TYPE_MAP || type_ == DUCKDB_TYPE_LIST, "the column holds pairs");
    const duckdb_list_entry entry = static_cast<const duckdb_list_entry*>(data_)[row];
    if (entry.length == 0) return;
    const duckdb_vector pairs = duckdb_list_vector_get_child(vector_);
    const Column first(duckdb_struct_vector_get_child(pairs, 0));
    const Column second(duckdb_struct_vector_get_child(pairs, 1));
    for (std::uint64_t i = entry.offset; i < entry.offset + entry.length; ++i) {
      visit(first.text(i), second.text(i));
    }
  }

 private:
  template <class Value, duckdb_type kType>
  Value value(std::uint64_t row) const {
    CHECK(type_ == kType, "the column is read as the type that it has");
    return static_cast<const Value*>(data_)[row];
  }
  static Int128 to_int128(duckdb_hugeint value) {
    return static_cast<Int128>(UInt128{static_cast<std::uint64_t>(value.upper)} << 64 |
                               value.lower);
  }

  duckdb_vector vector_;
  const void* data_;
  const std::uint64_t* validity_;
  duckdb_type type_;
  duckdb_type physical_ = DUCKDB_TYPE_INVALID;  // of a DECIMAL
  std::uint8_t scale_ = 0;
};

class Rows {
 public:
  Rows(Rows&& other) noexcept;
  Rows& operator=(Rows&& other) noexcept;
  ~Rows();

  std::uint64_t column_count() const;
  std::string_view column_name(std::uint64_t column) const;
  duckdb_type column_type(std::uint64_t column) const;

  // Goes on to the next chunk; false at the end. Columns of the previous chunk become invalid.
  Result<bool> next();
  std::uint64_t size() const { return size_; }  // rows of this chunk
  Column column(std::uint64_t index) const;     // REQUIRES: next() was true

 private:
  friend class Connection;
  friend class Statement;
  struct DestroyChunk {
    void operator()(duckdb_data_chunk chunk) const { duckdb_destroy_data_chunk(&chunk); }
  };
  using Chunk = std::unique_ptr<std::remove_pointer_t<duckdb_data_chunk>, DestroyChunk>;
  Rows(duckdb_result result, duckdb_connection connection)
      : result_(result), connection_(connection) {}

  mutable duckdb_result result_;  // the C API takes a pointer to non-const even to look
  duckdb_connection connection_;  // which outlives it
  bool owns_ = true;
  Chunk chunk_;
  std::uint64_t size_ = 0;
};

// DuckDB's message for what went wrong, with our code for it and, where there is one, a remedy.
Error to_error(duckdb_error_type type, std::string_view message);
// Whether a file could not be opened because another process has it open: it may be free soon.
bool is_locked_by_another(const Error& error);

}  // namespace pennyweight::duckdb
