#include "ingest/bill/number.h"

#include <array>
#include <cstdint>

namespace pennyweight::bill {
namespace {

constexpr std::size_t kDigitsMax = 18;  // fit 64 bits, and are at most the fraction's digits

constexpr auto kPowersOfTen = [] {
  std::array<std::int64_t, kDigitsMax + 1> powers{};
  std::int64_t power = 1;
  for (std::size_t i = 0; i <= kDigitsMax; ++i) {
    powers[i] = power;
    if (i < kDigitsMax) power *= 10;
  }
  return powers;
}();

}  // namespace

Result<ParsedDecimal> parse_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view unsigned_text = text.substr(negative ? 1 : 0);
  if (unsigned_text.size() > kDigitsMax + 1) return parse_decimal(text);
  std::int64_t digits = 0;
  std::size_t count = 0;
  std::size_t fraction_digits = 0;
  bool point = false;
  for (const char c : unsigned_text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9' || count == kDigitsMax) return parse_decimal(text);
    digits = digits * 10 + (c - '0');
    ++count;
    fraction_digits += point ? 1 : 0;
  }
  if (count == 0) return parse_decimal(text);
  const Int128 ticks = Int128{digits} * kPowersOfTen[kDigitsMax - fraction_digits];
  return ParsedDecimal{.value = Decimal::from_ticks(negative ? -ticks : ticks), .rounded = false};
}

}  // namespace pennyweight::bill
