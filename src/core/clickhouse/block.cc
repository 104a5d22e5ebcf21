#include "core/clickhouse/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"

namespace pennyweight::clickhouse {
namespace {

using Base = ValueType::Base;

// Numbers are sent as they are in memory.
static_assert(std::endian::native == std::endian::little);

constexpr int kDecimalDigits = 38;
constexpr std::size_t kVaruintBytesMax = 10;
constexpr std::size_t kShownBytesMax = 100;

// How many bytes a value has; for String the least that one can have, which is one.
std::size_t width(Base base) {
  switch (base) {
    case Base::kString:
    case Base::kUInt8:
      return 1;
    case Base::kUInt32:
    case Base::kInt32:
      return 4;
    case Base::kUInt64:
    case Base::kInt64:
      return 8;
    case Base::kHash:
    case Base::kDecimal:
      return 16;
  }
  CHECK(false, "every base has a width");
  return 0;
}

void add_varuint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>((value & 0x7f) | 0x80);
  to += static_cast<char>(value);
}

void add_sized(std::string& to, std::string_view text) {
  add_varuint(to, text.size());
  to += text;
}

template <class Number>
void add_raw(std::string& to, Number value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof bytes);
}

std::optional<Base> parse_base(std::string_view text) {
  if (text == "String") return Base::kString;
  if (text == "FixedString(16)") return Base::kHash;
  if (text == "UInt8") return Base::kUInt8;
  if (text == "UInt32") return Base::kUInt32;
  if (text == "UInt64") return Base::kUInt64;
  if (text == "Int32") return Base::kInt32;
  if (text == "Int64") return Base::kInt64;
  // Decimal(38, n), as servers write it, or without the space.
  constexpr std::string_view kDecimal = "Decimal(38,";
  if (!text.starts_with(kDecimal) || !text.ends_with(')')) return std::nullopt;
  text = text.substr(kDecimal.size(), text.size() - kDecimal.size() - 1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  if (text.empty() || text.size() > 2) return std::nullopt;
  int digits = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    digits = digits * 10 + (c - '0');
  }
  if (digits > kDecimalDigits) return std::nullopt;
  return Base::kDecimal;
}

}  // namespace

std::optional<ValueType> parse_value_type(std::string_view text) {
  constexpr std::string_view kNullable = "Nullable(";
  if (text == "Array(String)") return ValueType{.base = Base::kString, .array = true};
  const bool nullable = text.starts_with(kNullable) && text.ends_with(')');
  if (nullable) text = text.substr(kNullable.size(), text.size() - kNullable.size() - 1);
  const auto base = parse_base(text);
  if (!base) return std::nullopt;
  return ValueType{.base = *base, .nullable = nullable};
}

ColumnWriter::ColumnWriter(std::string name, std::string type)
    : name_(std::move(name)), type_(std::move(type)) {
  const auto value = parse_value_type(type_);
  CHECK(value, "a column has one of the types that block.h lists");
  value_ = *value;
}

void ColumnWriter::begin(Base base) {
  CHECK(value_.base == base && !value_.array, "a value is of its column's type");
  if (value_.nullable) nulls_ += '\0';
  ++rows_;
}

template <class Number>
void ColumnWriter::add_number(Base base, Number value) {
  begin(base);
  add_raw(values_, value);
}

void ColumnWriter::add_text(std::string_view value) {
  begin(Base::kString);
  add_sized(values_, value);
}
void ColumnWriter::add_hash(const Hash128& value) {
  begin(Base::kHash);
  add_raw(values_, std::byteswap(value.high));
  add_raw(values_, std::byteswap(value.low));
}
void ColumnWriter::add_bool(bool value) {
  add_number(Base::kUInt8, static_cast<std::uint8_t>(value ? 1 : 0));
}
void ColumnWriter::add_uint32(std::uint32_t value) { add_number(Base::kUInt32, value); }
void ColumnWriter::add_uint64(std::uint64_t value) { add_number(Base::kUInt64, value); }
void ColumnWriter::add_int32(std::int32_t value) { add_number(Base::kInt32, value); }
void ColumnWriter::add_int64(std::int64_t value) { add_number(Base::kInt64, value); }
void ColumnWriter::add_wide(Int128 value) { add_number(Base::kDecimal, value); }

void ColumnWriter::add_texts(std::span<const std::string_view> values) {
  CHECK(value_.array, "a list of texts goes into an Array(String)");
  for (const std::string_view value : values) add_sized(values_, value);
  elements_ += values.size();
  add_raw(offsets_, elements_);
  ++rows_;
}

void ColumnWriter::add_null() {
  CHECK(value_.nullable, "a null goes into a Nullable");
  nulls_ += '\1';
  values_.append(width(value_.base), '\0');  // a placeholder that nobody reads
  ++rows_;
}

void ColumnWriter::clear() {
  nulls_.clear();
  offsets_.clear();
  values_.clear();
  rows_ = elements_ = 0;
}

BlockWriter::BlockWriter(std::span<const ColumnSpec> columns) {
  for (const ColumnSpec& spec : columns) columns_.emplace_back(spec.name, spec.type);
}

std::size_t BlockWriter::bytes() const {
  std::size_t bytes = 0;
  for (const ColumnWriter& column : columns_) bytes += column.bytes();
  return bytes;
}

std::string BlockWriter::take() {
  const std::uint64_t rows = this->rows();
  CHECK(std::ranges::all_of(columns_, [&](const auto& column) { return column.rows() == rows; }),
        "each column of a block has as many rows");
  constexpr std::size_t kHeaderBytes = 64;  // most columns' names and types are shorter
  std::string block;
  block.reserve(bytes() + kHeaderBytes * (columns_.size() + 1));
  add_varuint(block, columns_.size());
  add_varuint(block, rows);
  for (ColumnWriter& column : columns_) {
    add_sized(block, column.name_);
    add_sized(block, column.type_);
    block += column.nulls_;
    block += column.offsets_;
    block += column.values_;
    column.clear();
  }
  return block;
}

void Column::expect(Base base, std::uint64_t row) const {
  CHECK(value_.base == base && !value_.array, "a value is read as what its column is");
  CHECK(!is_null(row), "a null is looked for before its value is read");
}

template <class Number>
Number Column::number(Base base, std::uint64_t row) const {
  expect(base, row);
  CHECK((row + 1) * sizeof(Number) <= values_.size(), "the row lies in the block");
  Number value;
  std::memcpy(&value, values_.data() + row * sizeof value, sizeof value);
  return value;
}

std::string_view Column::element(std::uint64_t index) const {
  CHECK(index < ends_.size(), "the row lies in the block");
  const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(values_).substr(begin, ends_[index] - begin);
}

std::string_view Column::text(std::uint64_t row) const {
  expect(Base::kString, row);
  return element(row);
}
Hash128 Column::hash(std::uint64_t row) const {
  struct Bytes {
    std::uint64_t high, low;
  };
  const auto bytes = number<Bytes>(Base::kHash, row);
  return {.high = std::byteswap(bytes.high), .low = std::byteswap(bytes.low)};
}
bool Column::boolean(std::uint64_t row) const {
  return number<std::uint8_t>(Base::kUInt8, row) != 0;
}
std::uint32_t Column::uint32(std::uint64_t row) const {
  return number<std::uint32_t>(Base::kUInt32, row);
}
std::uint64_t Column::uint64(std::uint64_t row) const {
  return number<std::uint64_t>(Base::kUInt64, row);
}
std::int32_t Column::int32(std::uint64_t row) const {
  return number<std::int32_t>(Base::kInt32, row);
}
std::int64_t Column::int64(std::uint64_t row) const {
  return number<std::int64_t>(Base::kInt64, row);
}
Int128 Column::wide(std::uint64_t row) const { return number<Int128>(Base::kDecimal, row); }

std::vector<std::string_view> Column::texts(std::uint64_t row) const {
  CHECK(value_.array, "a list of texts is read from an Array(String)");
  CHECK(row < elements_.size(), "the row lies in the block");
  std::vector<std::string_view> values;
  for (std::uint64_t i = row == 0 ? 0 : elements_[row - 1]; i < elements_[row]; ++i) {
    values.push_back(element(i));
  }
  return values;
}

Result<bool> BlockReader::next(Block& block) {
  while (!error_ && step_ != Step::kWhole && step()) {
  }
  if (error_) return std::unexpected(*error_);
  const bool whole = step_ == Step::kWhole;
  if (whole) {
    block = std::exchange(building_, Block());
    step_ = Step::kColumns;
    block_bytes_ = 0;
  }
  // Drops what was read; bytes with many small blocks are moved only once.
  if (!whole || used_ == bytes_.size()) {
    bytes_.erase(0, used_);
    used_ = 0;
  }
  return whole;
}

bool BlockReader::step() {
  switch (step_) {
    case Step::kColumns:
      if (!read_varuint(columns_)) return false;
      if (columns_ > limits::kColumnsMax) {
        return broken(fmt::format("it would have {} columns", columns_));
      }
      step_ = Step::kRows;
      return true;
    case Step::kRows:
      if (!read_varuint(building_.rows)) return false;
      if (building_.rows > kRowsMax || (columns_ == 0 && building_.rows > 0)) {
        return broken(fmt::format("it would have {} rows", building_.rows));
      }
      begin_column();
      return true;
    case Step::kName:
      if (!read_sized(building_.columns.back().name_, kNameBytesMax)) return false;
      step_ = Step::kType;
      return true;
    case Step::kType:
      return read_type(building_.columns.back());
    case Step::kNulls: {
      Column& column = building_.columns.back();
      if (!read_bytes(column.nulls_, building_.rows)) return false;
      step_ = column.value_.base == Base::kString ? Step::kTexts : Step::kValues;
      return true;
    }
    case Step::kElements:
      return read_elements(building_.columns.back());
    case Step::kValues: {
      Column& column = building_.columns.back();
      if (!read_bytes(column.values_, building_.rows * width(column.value_.base))) return false;
      begin_column();
      return true;
    }
    case Step::kTexts:
      return read_texts(building_.columns.back());
    case Step::kWhole:
      break;
  }
  return false;
}

void BlockReader::begin_column() {
  if (building_.columns.size() == columns_) {
    step_ = Step::kWhole;
    return;
  }
  building_.columns.emplace_back();
  step_ = Step::kName;
}

bool BlockReader::read_type(Column& column) {
  if (!read_sized(column.type_, kNameBytesMax)) return false;
  const auto value = parse_value_type(column.type_);
  if (!value) {
    return broken(
        fmt::format("column {} has the type {}, which is none of those that are read "
                    "here",
                    printable_text(column.name_, kShownBytesMax),
                    printable_text(column.type_, kShownBytesMax)));
  }
  column.value_ = *value;
  if (building_.rows == 0) {
    begin_column();
  } else if (value->array) {
    step_ = Step::kElements;
  } else if (value->nullable) {
    step_ = Step::kNulls;
  } else {
    step_ = value->base == Base::kString ? Step::kTexts : Step::kValues;
  }
  return true;
}

bool BlockReader::read_elements(Column& column) {
  std::uint64_t last = column.elements_.empty() ? 0 : column.elements_.back();
  while (column.elements_.size() < building_.rows) {
    std::uint64_t end = 0;
    if (bytes_.size() - used_ < sizeof end) return false;
    std::memcpy(&end, bytes_.data() + used_, sizeof end);
    if (!used(sizeof end)) return false;
    if (end < last || end > kBlockBytesMax) return broken("an array ends where it can't");
    column.elements_.push_back(static_cast<std::uint32_t>(end));
    last = end;
  }
  step_ = Step::kTexts;
  return true;
}

bool BlockReader::read_texts(Column& column) {
  const std::uint64_t texts = column.value_.array ? column.elements_.back() : building_.rows;
  while (column.ends_.size() < texts) {
    if (!read_sized(column.values_, kBlockBytesMax)) return false;
    column.ends_.push_back(static_cast<std::uint32_t>(column.values_.size()));
  }
  begin_column();
  return true;
}

bool BlockReader::read_sized(std::string& to, std::uint64_t most) {
  if (!text_) {
    std::uint64_t size = 0;
    if (!read_varuint(size)) return false;
    if (size > most) return broken(fmt::format("it has a text of {} bytes", size));
    text_ = size;
  }
  const std::uint64_t count = std::min<std::uint64_t>(*text_, bytes_.size() - used_);
  to.append(bytes_, used_, count);
  *text_ -= count;
  if (!used(count) || *text_ > 0) return false;
  text_.reset();
  return true;
}

bool BlockReader::read_bytes(std::string& to, std::uint64_t wanted) {
  const std::uint64_t count = std::min<std::uint64_t>(wanted - to.size(), bytes_.size() - used_);
  to.append(bytes_, used_, count);
  return used(count) && to.size() == wanted;
}

bool BlockReader::read_varuint(std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; used_ + i < bytes_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes_[used_ + i]);
    // The tenth holds the last bit of 64.
    if (i + 1 == kVaruintBytesMax && byte > 1) return broken("a number has more than 64 bits");
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return used(i + 1);
  }
  return false;
}

bool BlockReader::used(std::uint64_t count) {
  used_ += count;
  block_bytes_ += count;
  if (block_bytes_ <= kBlockBytesMax) return true;
  return broken(fmt::format("it has more than {} bytes", kBlockBytesMax));
}

bool BlockReader::broken(const std::string& what) {
  error_ = Error{ErrorCode::kStore,
                 "the response is not a block in ClickHouse's Native format: " + what};
  return false;
}

}  // namespace pennyweight::clickhouse
