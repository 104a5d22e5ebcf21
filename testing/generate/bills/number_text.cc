#include "testing/generate/bills/number_text.h"

#include <fmt/format.h>

#include <string_view>

#include "core/int128.h"

namespace pennyweight::bills {
namespace {

struct Digits {
  bool negative;
  std::string all;  // without leading and trailing zeros; empty: zero
  int exponent;     // of the first digit: 0 for 1 to 9, -1 for 0.1
};

Digits digits_of(Decimal value) {
  const bool negative = value.is_negative();
  std::string all = pennyweight::to_text(negative ? -value.ticks() : value.ticks());
  const int exponent = static_cast<int>(all.size()) - 1 - Decimal::kFractionDigits;
  const std::size_t last = all.find_last_not_of('0');
  all.resize(last == std::string::npos ? 0 : last + 1);
  return {negative, std::move(all), exponent};
}

std::string mantissa(const Digits& digits, bool point_always) {
  std::string text = digits.negative ? "-" : "";
  text += digits.all[0];
  if (digits.all.size() > 1) {
    text += '.';
    text += std::string_view(digits.all).substr(1);
  } else if (point_always) {
    text += ".0";
  }
  return text;
}

std::string with_point(Decimal value) {
  std::string text = pennyweight::to_text(value);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string java_double(Decimal value) {
  const Digits digits = digits_of(value);
  if (digits.all.empty() || (digits.exponent >= -3 && digits.exponent < 7)) {
    return with_point(value);
  }
  return fmt::format("{}E{}", mantissa(digits, true), digits.exponent);
}

std::string python_double(Decimal value) {
  const Digits digits = digits_of(value);
  if (digits.all.empty() || digits.exponent >= -4) return with_point(value);
  return fmt::format("{}e-{:02}", mantissa(digits, false), -digits.exponent);
}

std::string dotnet_double(Decimal value) {
  const Digits digits = digits_of(value);
  if (digits.all.empty() || digits.exponent >= -4) return pennyweight::to_text(value);
  return fmt::format("{}E-{:02}", mantissa(digits, false), -digits.exponent);
}

std::string eighteen_digits(Decimal value) {
  const std::string sign = value.is_negative() ? "-" : "";
  std::string all = pennyweight::to_text(value.is_negative() ? -value.ticks() : value.ticks());
  const int exponent = static_cast<int>(all.size()) - 1 - Decimal::kFractionDigits;
  if (value != Decimal() && exponent < -6) {
    std::string text = sign + all[0];
    if (all.size() > 1) text += '.' + all.substr(1);
    return fmt::format("{}E{}", text, exponent);
  }
  constexpr std::size_t kDigits = Decimal::kFractionDigits;
  if (all.size() <= kDigits) all.insert(0, kDigits + 1 - all.size(), '0');
  return sign + all.substr(0, all.size() - kDigits) + '.' + all.substr(all.size() - kDigits);
}

}  // namespace pennyweight::bills
