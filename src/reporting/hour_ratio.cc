#include "reporting/hour_ratio.h"

#include "core/check.h"
#include "core/decimal.h"
#include "core/int128.h"

namespace pennyweight {
namespace {

constexpr UInt128 kTenThousand = 10'000;
constexpr std::int64_t kTicksPerTenThousandth = 100'000'000'000'000;  // of a Decimal

UInt128 common_divisor(UInt128 a, UInt128 b) {
  while (b != 0) {
    const UInt128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace

std::string format_hours(const Ratio& hours, Thousands thousands) {
  CHECK(hours.part >= 0 && hours.whole > 0, "hours are not negative");
  const auto whole = static_cast<UInt128>(hours.whole);
  auto [scaled, rest] = multiply_divide(static_cast<UInt128>(hours.part), kTenThousand, whole);
  const UInt128 to_next = whole - rest;
  if (rest > to_next || (rest == to_next && scaled % 2 == 1)) ++scaled;
  return format_rounded(
      Decimal::from_ticks(static_cast<Int128>(scaled) * Int128{kTicksPerTenThousandth}), 4,
      thousands);
}

std::string exact_hours(const Ratio& hours) {
  CHECK(hours.part >= 0 && hours.whole > 0, "hours are not negative");
  const auto part = static_cast<UInt128>(hours.part);
  const auto whole = static_cast<UInt128>(hours.whole);
  const UInt128 divisor = common_divisor(part, whole);
  const std::string dividend = to_text(part / divisor);
  return whole == divisor ? dividend : dividend + "/" + to_text(whole / divisor);
}

}  // namespace pennyweight
