#include "reporting/number_format.h"

#include <string_view>

#include "core/card_share.h"
#include "core/check.h"

namespace pennyweight {
namespace {

UInt128 power_of_ten(int exponent) {
  UInt128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// -2^127 has a magnitude, but cannot be negated.
UInt128 magnitude(Int128 value) {
  return value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
}

// count * multiplier / divisor, rounded half to even.
UInt128 divide_half_even(UInt128 count, UInt128 multiplier, UInt128 divisor) {
  const auto [quotient, remainder] = multiply_divide(count, multiplier, divisor);
  const UInt128 rest_to_next = divisor - remainder;
  if (remainder > rest_to_next) return quotient + 1;
  if (remainder == rest_to_next) return quotient + (quotient & 1);
  return quotient;
}

std::string separated(std::string_view digits, Thousands thousands) {
  if (thousands == Thousands::kPlain) return std::string(digits);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// A count of 10^-digits as digits with a point.
std::string with_point(UInt128 scaled, int digits, bool negative, Thousands thousands) {
  const UInt128 unit = power_of_ten(digits);
  std::string text = negative && scaled != 0 ? "-" : "";
  text += separated(to_text(scaled / unit), thousands);
  if (digits == 0) return text;
  const std::string fraction = to_text(scaled % unit);
  text += '.';
  text.append(static_cast<std::size_t>(digits) - fraction.size(), '0');
  return text + fraction;
}

}  // namespace

std::string format_rounded(Decimal value, int digits, Thousands thousands) {
  CHECK(digits >= 0 && digits <= Decimal::kFractionDigits, "digits that a Decimal has");
  const UInt128 scaled = divide_half_even(magnitude(value.ticks()), 1,
                                          power_of_ten(Decimal::kFractionDigits - digits));
  return with_point(scaled, digits, value.is_negative(), thousands);
}

std::string format_count(std::uint64_t count, Thousands thousands) {
  return separated(std::to_string(count), thousands);
}

std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural) {
  std::string text = format_count(count, Thousands::kSeparated) + " ";
  if (count == 1) return text.append(noun);
  if (plural.empty()) return text.append(noun).append("s");
  return text.append(plural);
}

std::string format_gpu_hours(GpuTime time, int digits, Thousands thousands) {
  CHECK(digits >= 0 && digits <= 18, "as many digits as money has");
  const UInt128 scaled = divide_half_even(time.count(), power_of_ten(digits), kGpuHour.count());
  return with_point(scaled, digits, false, thousands);
}

std::string exact_gpu_hours(GpuTime time) {
  UInt128 a = time.count();
  UInt128 b = kGpuHour.count();
  while (b != 0) {
    const UInt128 rest = a % b;
    a = b;
    b = rest;
  }
  const UInt128 divisor = kGpuHour.count() / a;
  const std::string dividend = to_text(time.count() / a);
  return divisor == 1 ? dividend : dividend + "/" + to_text(divisor);
}

std::optional<std::string> format_percent(Int128 part, Int128 whole, int digits) {
  CHECK(digits >= 0 && digits <= 6, "percent are for reading");
  if (whole == 0) return std::nullopt;
  const UInt128 size = magnitude(part);
  const UInt128 of = magnitude(whole);
  // The share of a total that nearly cancels out can be any number; beyond 1,000,000 % it
  // is meaningless.
  if (size / of > 10'000) return std::nullopt;
  const UInt128 scaled = divide_half_even(size, 100 * power_of_ten(digits), of);
  return with_point(scaled, digits, (part < 0) != (whole < 0), Thousands::kPlain);
}

}  // namespace pennyweight
