#include "ingest/bills/number.h"

#include <array>
#include <cstdint>
#include <string>

#include "core/ascii.h"

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

std::size_t digits_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && ascii::is_digit(text[end])) ++end;
  return end - begin;
}

bool is_written_as_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_at(text, at);
  at += whole;
  std::size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    fraction = digits_at(text, ++at);
    at += fraction;
  }
  if (whole + fraction == 0) return false;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  const std::size_t power = digits_at(text, at);
  return power > 0 && at + power == text.size();
}

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

Result<ParsedDecimal> parse_printed_number(std::string_view text) {
  auto parsed = parse_number(text);
  if (parsed) return parsed;
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent == std::string_view::npos || text.substr(exponent + 1, 1) != "+") return parsed;
  const std::string_view power = text.substr(exponent + 2);
  if (digits_at(power, 0) == 0) return parsed;
  return parse_number(std::string(text.substr(0, exponent + 1)).append(power));
}

bool is_number_out_of_range(std::string_view text) {
  return is_written_as_number(text) && !parse_printed_number(text);
}

}  // namespace pennyweight::bill
