#include "core/crypto/bech32.h"

#include <array>
#include <cstdint>
#include <vector>

#include "core/ascii.h"

namespace pennyweight {
namespace {

constexpr std::string_view kLetters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr std::size_t kChecksumLetters = 6;

// 1 for a text whose checksum is right.
std::uint32_t checksum(std::string_view prefix, const std::vector<std::uint8_t>& values) {
  constexpr std::array<std::uint32_t, 5> kGenerator = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa,
                                                       0x3d4233dd, 0x2a1462b3};
  std::uint32_t sum = 1;
  const auto add = [&](std::uint32_t value) {
    const std::uint32_t top = sum >> 25;
    sum = (sum & 0x1ffffff) << 5 ^ value;
    for (std::size_t i = 0; i < kGenerator.size(); ++i) sum ^= (top >> i & 1) * kGenerator[i];
  };
  for (const char c : prefix) add(static_cast<std::uint32_t>(c) >> 5);
  add(0);
  for (const char c : prefix) add(static_cast<std::uint32_t>(c) & 31);
  for (const std::uint8_t value : values) add(value);
  return sum;
}

}  // namespace

std::optional<Bech32> from_bech32(std::string_view text) {
  const std::string small = ascii::lower_case(text);
  bool has_small = false, has_capital = false;
  for (const char c : text) {
    if (c < 33 || c > 126) return std::nullopt;
    has_small |= ascii::is_lower(c);
    has_capital |= c >= 'A' && c <= 'Z';
  }
  const std::size_t one = small.rfind('1');
  if ((has_small && has_capital) || one == std::string::npos || one == 0 ||
      small.size() - one - 1 < kChecksumLetters) {
    return std::nullopt;
  }
  std::vector<std::uint8_t> values;
  for (const char c : std::string_view(small).substr(one + 1)) {
    const std::size_t value = kLetters.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    values.push_back(static_cast<std::uint8_t>(value));
  }
  Bech32 read{.prefix = small.substr(0, one), .bytes = {}};
  if (checksum(read.prefix, values) != 1) return std::nullopt;
  values.resize(values.size() - kChecksumLetters);
  std::uint32_t held = 0;
  int bits = 0;
  for (const std::uint8_t value : values) {
    held = (held << 5 | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    read.bytes += static_cast<char>(held >> bits & 0xff);
  }
  if (bits >= 5 || (held & ((1u << bits) - 1)) != 0) return std::nullopt;
  return read;
}

}  // namespace pennyweight
