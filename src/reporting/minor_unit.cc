#include "reporting/minor_unit.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// ISO 4217 list one (six-group.com, 2024-06-25): codes whose minor unit has not two digits.
constexpr std::array<std::string_view, 17> kNoDigits = {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY",
                                                        "KMF", "KRW", "PYG", "RWF", "UGX", "UYI",
                                                        "VND", "VUV", "XAF", "XOF", "XPF"};
constexpr std::array<std::string_view, 7> kThreeDigits = {"BHD", "IQD", "JOD", "KWD",
                                                          "LYD", "OMR", "TND"};
constexpr std::array<std::string_view, 2> kFourDigits = {"CLF", "UYW"};

}  // namespace

int minor_digits(Currency currency) {
  const std::string code = currency.text();
  const auto is_in = [&](const auto& codes) {
    return std::ranges::find(codes, code) != codes.end();
  };
  if (is_in(kNoDigits)) return 0;
  if (is_in(kThreeDigits)) return 3;
  if (is_in(kFourDigits)) return 4;
  return 2;
}

std::string format_minor(Money amount) {
  return format_rounded(amount.amount(), minor_digits(amount.currency()), Thousands::kSeparated);
}

}  // namespace pennyweight
