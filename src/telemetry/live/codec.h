// ByteWriter and ByteReader: numbers and texts as bytes, for records of the journal and for the
// snapshot.
//
// Numbers are little-endian base-128 varints, signed ones zigzag; texts are preceded by their
// length. A ByteReader never reads past its end: after the first mistake it is !ok() and returns
// zeros, so callers check once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/instant.h"
#include "core/int128.h"

namespace pennyweight::live {

class ByteWriter {
 public:
  ByteWriter& number(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
    return *this;
  }
  ByteWriter& signed_number(std::int64_t value) {
    return number((static_cast<std::uint64_t>(value) << 1) ^
                  static_cast<std::uint64_t>(value >> 63));
  }
  ByteWriter& wide(UInt128 value) {
    return number(static_cast<std::uint64_t>(value))
        .number(static_cast<std::uint64_t>(value >> 64));
  }
  ByteWriter& text(std::string_view text) {
    number(text.size());
    bytes_.append(text);
    return *this;
  }
  // Bytes in a format of their own, without their length.
  ByteWriter& raw(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
  }
  void reserve(std::size_t size) { bytes_.reserve(size); }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  // Unix ms, to the year 2199; -1 for never.
  std::int64_t time() {
    const std::int64_t at = signed_number();
    if (at >= -1 && at <= unix_ms(kInstantMax)) return at;
    fail();
    return 0;
  }
  UInt128 wide() {
    const std::uint64_t low = number();
    return (UInt128{number()} << 64) | low;
  }
  std::string_view text() {
    const std::uint64_t size = number();
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  // A count of items of at least one byte each, so never more than the bytes that are left.
  std::uint64_t count() {
    const std::uint64_t count = number();
    if (count <= rest_.size()) return count;
    fail();
    return 0;
  }
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace pennyweight::live
