// Appender: writes rows into a DuckDB table, chunk by chunk and column by column.
//
// This is the fast way to write: no SQL is parsed and no value is boxed. Fill each column of a
// chunk, then append it:
//
//   for (batch of at most Appender::kChunkRows facts) {
//     ColumnWriter name = appender.column(0);
//     for (row…) name.set_text(row, facts[row].name);
//     …
//     appender.append(rows);
//   }
//   appender.close();
//
// An appender opened with open_behind() hands full chunks to a thread of its own, which appends and
// flushes them in order while the caller fills the next one; at most kChunksBehind wait. That many,
// because a flush takes as long as filling about twenty chunks: with four of them the two threads
// kept waiting for each other. A bill's chunk is 2 to 4 MB.
//
// DuckDB buffers appended rows; they are in the table after flush(), close() or the destructor.
// Only close() reports whether that succeeded. To be able to undo, append within a transaction.
#pragma once

#include <duckdb.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/duckdb/database.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/instant.h"
#include "core/int128.h"

namespace pennyweight::duckdb {

// One column of the chunk that is being filled; valid until append(). Each setter REQUIRES the SQL
// type that it names. Texts are copied. append() fails after a text that is not UTF-8.
class ColumnWriter {
 public:
  void set_null(std::uint64_t row);
  void set_text(std::uint64_t row, std::string_view text);
  void set_bool(std::uint64_t row, bool value) { set<bool, DUCKDB_TYPE_BOOLEAN>(row, value); }
  void set_int64(std::uint64_t row, std::int64_t value) {
    set<std::int64_t, DUCKDB_TYPE_BIGINT>(row, value);
  }
  void set_uint32(std::uint64_t row, std::uint32_t value) {
    set<std::uint32_t, DUCKDB_TYPE_UINTEGER>(row, value);
  }
  void set_uint64(std::uint64_t row, std::uint64_t value) {
    set<std::uint64_t, DUCKDB_TYPE_UBIGINT>(row, value);
  }
  void set_uint64(std::uint64_t row, std::optional<std::uint64_t> value) {
    value ? set_uint64(row, *value) : set_null(row);
  }
  void set_hugeint(std::uint64_t row, Int128 value) {
    set<duckdb_hugeint, DUCKDB_TYPE_HUGEINT>(row, to_hugeint(value));
  }
  // A count of 10^-scale of a DECIMAL of more than 18 digits, such as DECIMAL(38,18).
  void set_decimal(std::uint64_t row, Int128 unscaled) {
    set<duckdb_hugeint, DUCKDB_TYPE_DECIMAL>(row, to_hugeint(unscaled));
  }
  void set_timestamp_ms(std::uint64_t row, Instant at) {
    set<std::int64_t, DUCKDB_TYPE_TIMESTAMP_MS>(row, at.time_since_epoch().count());
  }
  void set_timestamp_micros(std::uint64_t row, std::int64_t micros) {
    set<std::int64_t, DUCKDB_TYPE_TIMESTAMP>(row, micros);
  }
  void set_date(std::uint64_t row, std::chrono::sys_days day) {
    set<std::int32_t, DUCKDB_TYPE_DATE>(row,
                                        static_cast<std::int32_t>(day.time_since_epoch().count()));
  }
  void set_uuid(std::uint64_t row, const Hash128& hash) {
    const std::uint64_t upper = hash.high ^ std::uint64_t{1} << 63;
    set<duckdb_hugeint, DUCKDB_TYPE_UUID>(
        row, {.lower = hash.low, .upper = static_cast<std::int64_t>(upper)});
  }
  // MAP(VARCHAR, VARCHAR) or LIST(STRUCT of two VARCHARs). REQUIRES: rows come in ascending order.
  using Pair = std::pair<std::string_view, std::string_view>;
  void set_pairs(std::uint64_t row, const std::vector<Pair>& pairs);

 private:
  friend class Appender;
  ColumnWriter(duckdb_vector vector, duckdb_type type, bool* valid_utf8)
      : vector_(vector),
        data_(duckdb_vector_get_data(vector)),
        type_(type),
        valid_utf8_(valid_utf8) {}
  template <class Value, duckdb_type kType>
  void set(std::uint64_t row, Value value) {
    CHECK(type_ == kType, "the column is written as the type that it has");
    static_cast<Value*>(data_)[row] = value;
  }
  static duckdb_hugeint to_hugeint(Int128 value) {
    const auto bits = static_cast<UInt128>(value);
    return {.lower = static_cast<std::uint64_t>(bits),
            .upper = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits >> 64))};
  }

  duckdb_vector vector_;
  void* data_;
  duckdb_type type_;
  bool* valid_utf8_;
  // The last text that was set; the chunk owns the bytes, so they live as long as the writer.
  std::uint64_t last_row_ = 0;
  bool has_last_ = false;
};

class Appender {
 public:
  static constexpr std::uint64_t kChunkRows = 2048;

  static constexpr std::size_t kChunksBehind = 32;

  // `catalog` is "temp" for a temporary table; empty for the connection's own database.
  // REQUIRES: the connection outlives the appender.
  static Result<Appender> open(Connection& connection, const std::string& catalog,
                               const std::string& table);
  // As open(), but appends on a thread of its own, which flushes after every `flush_rows` rows.
  // append() then reports errors of earlier chunks; after one, no more rows are accepted.
  static Result<Appender> open_behind(Connection& connection, const std::string& catalog,
                                      const std::string& table, std::uint64_t flush_rows);
  Appender(Appender&&) noexcept;
  ~Appender();
  Appender& operator=(Appender&&) = delete;  // a thread may use what would be replaced

  std::uint64_t column_count() const { return types_.size(); }
  ColumnWriter column(std::uint64_t index);
  Result<void> append(std::uint64_t rows);  // REQUIRES: every column of these rows was set
  Result<void> flush();
  Result<void> close();

 private:
  struct DestroyAppender {
    void operator()(duckdb_appender appender) const { duckdb_appender_destroy(&appender); }
  };
  struct DestroyChunk {
    void operator()(duckdb_data_chunk chunk) const { duckdb_destroy_data_chunk(&chunk); }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<duckdb_appender>, DestroyAppender>;
  using Chunk = std::unique_ptr<std::remove_pointer_t<duckdb_data_chunk>, DestroyChunk>;
  class RowTypes;
  class AppendThread;
  Appender(Handle handle, Chunk chunk, std::vector<duckdb_type> types, std::string table);
  std::unexpected<Error> failure() const;

  Handle handle_;
  Chunk chunk_;
  std::vector<duckdb_type> types_;
  std::string table_;
  std::unique_ptr<bool> valid_utf8_;  // of this chunk; on the heap, since writers point at it
  std::unique_ptr<AppendThread> append_thread_;  // destroyed before the handle that it uses
};

}  // namespace pennyweight::duckdb
