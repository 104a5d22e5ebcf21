// Block: rows of a table, column by column, in ClickHouse's Native format.
//
// This is the format as HTTP carries it (no block info, no revision): the number of columns and of
// rows as varuints, then for each column its name, its type and its values. For the types listed
// here it is the same from 18.16 to today's releases.
//
// Types: String, FixedString(16) (a Hash128, big-endian, so that it sorts as ours), UInt8, UInt32,
// UInt64, Int32, Int64, Decimal(38, n) (sixteen bytes, little-endian), Nullable(any of these),
// Array(String).
// Source: ClickHouse documentation, "Formats", Native; dbms/src/DataStreams/Native* of 18.16.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/int128.h"

namespace pennyweight::clickhouse {

// The type of a column's values.
struct ValueType {
  enum class Base { kString, kHash, kUInt8, kUInt32, kUInt64, kInt32, kInt64, kDecimal };
  Base base = Base::kString;
  bool nullable = false;
  bool array = false;  // of String alone
  bool operator==(const ValueType&) const = default;
};
// Nothing for a type that is not listed above.
std::optional<ValueType> parse_value_type(std::string_view text);

// Builds one column of a block. Each add_ function REQUIRES the type that it names; add_null()
// REQUIRES a Nullable.
class ColumnWriter {
 public:
  ColumnWriter(std::string name, std::string type);  // REQUIRES: a type that is listed above

  void add_text(std::string_view value);
  void add_hash(const Hash128& value);
  void add_bool(bool value);  // UInt8
  void add_uint32(std::uint32_t value);
  void add_uint64(std::uint64_t value);
  void add_int32(std::int32_t value);
  void add_int64(std::int64_t value);
  void add_wide(Int128 value);  // Decimal(38, n): the count of 10^-n
  void add_texts(std::span<const std::string_view> values);
  void add_null();

  const std::string& name() const { return name_; }
  const std::string& type() const { return type_; }
  std::uint64_t rows() const { return rows_; }
  std::size_t bytes() const { return nulls_.size() + offsets_.size() + values_.size(); }

 private:
  friend class BlockWriter;
  void begin(ValueType::Base base);
  template <class Number>
  void add_number(ValueType::Base base, Number value);
  void clear();

  std::string name_, type_;
  ValueType value_;
  std::string nulls_;    // a byte a row, of Nullable
  std::string offsets_;  // of Array
  std::string values_;
  std::uint64_t rows_ = 0, elements_ = 0;
};

struct ColumnSpec {
  std::string name, type;
};

class BlockWriter {
 public:
  explicit BlockWriter(std::span<const ColumnSpec> columns);
  ColumnWriter& column(std::size_t index) { return columns_[index]; }
  std::uint64_t rows() const { return columns_.empty() ? 0 : columns_.front().rows(); }
  std::size_t bytes() const;
  // The block as bytes; the writer is empty afterwards. REQUIRES: equally many rows in each column.
  std::string take();

 private:
  std::vector<ColumnWriter> columns_;
};

// One column of a block that was read. Each reader REQUIRES the type that it names and a row that
// is not null. A text that it returns lives as long as the column.
class Column {
 public:
  const std::string& name() const { return name_; }
  const std::string& type() const { return type_; }
  bool is_null(std::uint64_t row) const { return !nulls_.empty() && nulls_[row] != 0; }
  std::string_view text(std::uint64_t row) const;
  Hash128 hash(std::uint64_t row) const;
  bool boolean(std::uint64_t row) const;
  std::uint32_t uint32(std::uint64_t row) const;
  std::uint64_t uint64(std::uint64_t row) const;
  std::int32_t int32(std::uint64_t row) const;
  std::int64_t int64(std::uint64_t row) const;
  Int128 wide(std::uint64_t row) const;
  std::vector<std::string_view> texts(std::uint64_t row) const;

 private:
  friend class BlockReader;
  void expect(ValueType::Base base, std::uint64_t row) const;
  std::string_view element(std::uint64_t index) const;
  template <class Number>
  Number number(ValueType::Base base, std::uint64_t row) const;

  std::string name_, type_;
  ValueType value_;
  std::string nulls_, values_;
  std::vector<std::uint32_t> ends_;      // of String: of each value (of Array: each element)
  std::vector<std::uint32_t> elements_;  // of Array: the end of each row's elements
};

struct Block {
  std::vector<Column> columns;
  std::uint64_t rows = 0;
};

// Reads blocks from bytes that come in pieces. It allocates only for bytes that have arrived, not
// for lengths that are declared: memory stays a small multiple of the input.
class BlockReader {
 public:
  // Takes bytes; next() then returns the complete blocks.
  void add(std::string_view bytes) { bytes_.append(bytes); }
  // False: more bytes are needed. A block may have no rows (the header of an empty answer). An
  // Error of kStore where the bytes are not a Native block, have a type that is not listed, or
  // exceed a limit; from then on always that Error.
  Result<bool> next(Block& block);
  // Whether no block is unfinished.
  bool at_end() const { return !error_ && step_ == Step::kColumns && bytes_.size() == used_; }

  static constexpr std::uint64_t kRowsMax = 1u << 24;  // of one block
  static constexpr std::uint64_t kBlockBytesMax = 1u << 30;
  static constexpr std::uint64_t kNameBytesMax = 1024;  // of a column's name, and of its type

 private:
  // What comes next.
  enum class Step { kColumns, kRows, kName, kType, kNulls, kElements, kValues, kTexts, kWhole };

  // Each of these returns true when it has read all of its part; else more bytes are needed, or
  // error_ is set. What was read so far is kept, so that no byte is read twice.
  bool step();
  bool read_varuint(std::uint64_t& value);
  bool read_sized(std::string& to, std::uint64_t most);
  bool read_bytes(std::string& to, std::uint64_t wanted);
  bool read_type(Column& column);
  bool read_elements(Column& column);
  bool read_texts(Column& column);
  bool used(std::uint64_t count);
  bool broken(const std::string& what);
  void begin_column();

  std::string bytes_;
  std::size_t used_ = 0;  // of bytes_
  Step step_ = Step::kColumns;
  Block building_;                     // its last column is the one that is being read
  std::uint64_t columns_ = 0;          // that it will have
  std::uint64_t block_bytes_ = 0;      // that came of it
  std::optional<std::uint64_t> text_;  // how much is missing of the text that is being read
  std::optional<Error> error_;
};

}  // namespace pennyweight::clickhouse
