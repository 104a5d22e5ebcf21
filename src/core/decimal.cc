#include "core/decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/ascii.h"
#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

Error bad_number(std::string_view text, std::string_view why) {
  return Error{ErrorCode::kBadValue,
               fmt::format("'{}' is not a decimal number: {}", printable_text(text, 60), why)};
}

// The first character of a text that is not empty; one byte where that is not well-formed UTF-8.
std::string_view first_character(std::string_view text) {
  for (std::size_t length = 1; length <= 4; ++length) {
    if (is_plain_text(text.substr(0, length))) return text.substr(0, length);
  }
  return text.substr(0, 1);
}

// A number as it is written, before any arithmetic.
struct Parts {
  bool negative = false;
  std::string digits;        // integer and fraction digits, without the point
  long fraction_digits = 0;  // how many of them stand right of the point
};

Result<Parts> read_parts(std::string_view text) {
  Parts parts;
  std::size_t i = 0;
  if (text.size() > limits::kNumberBytesMax) return std::unexpected(bad_number(text, "too long"));
  if (i < text.size() && text[i] == '-') {
    parts.negative = true;
    ++i;
  }
  bool point = false;
  for (; i < text.size() && (ascii::is_digit(text[i]) || (text[i] == '.' && !point)); ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    parts.digits.push_back(text[i]);
    if (point) ++parts.fraction_digits;
  }
  if (parts.digits.empty()) return std::unexpected(bad_number(text, "no digits"));
  if (i == text.size()) return parts;
  if (text[i] != 'e' && text[i] != 'E') {
    const auto character = printable_text(first_character(text.substr(i)), 4);
    return std::unexpected(bad_number(text, fmt::format("unexpected '{}'", character)));
  }
  ++i;
  const bool negative_exponent = i < text.size() && text[i] == '-';
  if (negative_exponent) ++i;
  long exponent = 0;
  const std::size_t exponent_begin = i;
  for (; i < text.size() && ascii::is_digit(text[i]); ++i) {
    exponent = std::min(exponent * 10 + (text[i] - '0'), 1000L);
  }
  if (i == exponent_begin || i != text.size()) {
    return std::unexpected(bad_number(text, "a malformed exponent"));
  }
  parts.fraction_digits += negative_exponent ? exponent : -exponent;
  return parts;
}

}  // namespace

Result<ParsedDecimal> parse_decimal(std::string_view text) {
  auto parts = TRY(read_parts(text));
  std::string& digits = parts.digits;

  // Bring the digits to exactly 18 after the point; those beyond decide the rounding.
  std::string beyond;
  const long surplus = parts.fraction_digits - Decimal::kFractionDigits;
  if (surplus > 0) {
    const auto drop = static_cast<std::size_t>(surplus);
    if (drop > digits.size()) {
      beyond = "0" + digits;  // smaller than half a tick, whatever it is
      digits = "0";
    } else {
      beyond = digits.substr(digits.size() - drop);
      digits.resize(digits.size() - drop);
      if (digits.empty()) digits = "0";
    }
  } else {
    const bool zero = std::all_of(digits.begin(), digits.end(), [](char c) { return c == '0'; });
    if (zero) {
      digits = "0";
    } else if (-surplus > 60) {
      return std::unexpected(bad_number(text, "too large"));
    } else {
      digits.append(static_cast<std::size_t>(-surplus), '0');
    }
  }
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  const auto parsed = parse_int128(std::string_view(digits).substr(first));
  if (!parsed || *parsed > Decimal::kTicksMax) {
    return std::unexpected(bad_number(text, "more than 20 digits before the point"));
  }
  Int128 ticks = *parsed;
  const bool rounded = beyond.find_first_not_of('0') != std::string::npos;
  if (rounded) {
    const bool over_half =
        beyond[0] > '5' ||
        (beyond[0] == '5' && beyond.find_first_not_of('0', 1) != std::string::npos);
    const bool exactly_half = beyond[0] == '5' && !over_half;
    if (over_half || (exactly_half && ticks % 2 != 0)) ticks += 1;
    if (ticks > Decimal::kTicksMax) return std::unexpected(bad_number(text, "too large"));
  }
  return ParsedDecimal{.value = Decimal::from_ticks(parts.negative ? -ticks : ticks),
                       .rounded = rounded};
}

Result<Decimal> parse_exact_decimal(std::string_view text) {
  auto parsed = TRY(parse_decimal(text));
  if (parsed.rounded) {
    return std::unexpected(bad_number(text, "more than 18 digits after the point"));
  }
  return parsed.value;
}

std::string to_text(Decimal value) {
  const bool negative = value.is_negative();
  const UInt128 size =
      negative ? -static_cast<UInt128>(value.ticks()) : static_cast<UInt128>(value.ticks());
  std::string text = to_text(size / static_cast<UInt128>(Decimal::kTicksPerUnit));
  const auto fraction =
      static_cast<std::uint64_t>(size % static_cast<UInt128>(Decimal::kTicksPerUnit));
  if (fraction != 0) {
    std::string digits = fmt::format("{:018}", fraction);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return negative ? "-" + text : text;
}

Result<Decimal> multiply(Decimal a, Decimal b, Rounding rounding) {
  const auto size = [](Decimal d) {
    return d.is_negative() ? -static_cast<UInt128>(d.ticks()) : static_cast<UInt128>(d.ticks());
  };
  constexpr auto kScale = static_cast<UInt128>(Decimal::kTicksPerUnit);
  const Error too_large{ErrorCode::kBadValue,
                        fmt::format("{} x {} is out of range", to_text(a), to_text(b))};
  // Both factors are below 2^127; the quotient fits when size(a) / scale * size(b) stays small.
  if (size(b) != 0 && size(a) / kScale > static_cast<UInt128>(Decimal::kTicksMax) / size(b)) {
    return std::unexpected(too_large);
  }
  auto [quotient, remainder] = multiply_divide(size(a), size(b), kScale);
  if (rounding == Rounding::kHalfEven) {
    const UInt128 twice = remainder * 2;
    if (twice > kScale || (twice == kScale && quotient % 2 != 0)) quotient += 1;
  }
  if (quotient > static_cast<UInt128>(Decimal::kTicksMax)) return std::unexpected(too_large);
  const auto ticks = static_cast<Int128>(quotient);
  return Decimal::from_ticks(a.is_negative() != b.is_negative() ? -ticks : ticks);
}

}  // namespace pennyweight
