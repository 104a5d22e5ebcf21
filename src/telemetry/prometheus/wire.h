// WireReader: reads protobuf field by field, without copies and without generated code.
//
// https://protobuf.dev/programming-guides/encoding/ . Groups, which none of our messages has, and
// field number 0 are refused.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pennyweight::prometheus {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  const char* begin = nullptr;  // of its tag
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;  // of a varint, or the bits of a fixed one
  std::string_view bytes;

  bool is(std::uint32_t field, WireType wire) const { return number == field && type == wire; }
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  // False at the end and at malformed bytes; `wrong()` distinguishes the two.
  bool next(WireField& field);
  const char* at() const { return at_; }
  const char* end() const { return end_; }
  void skip_to(const char* at) { at_ = at; }
  // What is wrong at at(), as a constant text; nullptr: nothing.
  const char* wrong() const { return wrong_; }

  // One varint at `at`; nullptr where it passes the end or 64 bits.
  static const char* varint(const char* at, const char* end, std::uint64_t& value) {
    if (at < end && static_cast<unsigned char>(*at) < 0x80) {
      value = static_cast<unsigned char>(*at);
      return at + 1;
    }
    return long_varint(at, end, value);
  }

 private:
  static const char* long_varint(const char* at, const char* end, std::uint64_t& value);
  bool refuse(const char* why) {
    wrong_ = why;
    return false;
  }
  const char* at_;
  const char* end_;
  const char* wrong_ = nullptr;
};

// Bytes in the order that protobuf writes them: little endian.
template <class T>
T load_little_endian(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  return value;
}

}  // namespace pennyweight::prometheus
