#include "reporting/invoice/rounding.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "core/check.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

Int128 ticks_of_minor_unit(Currency currency) {
  Int128 ticks = Money::kTicksPerUnit;
  for (int i = 0; i < minor_digits(currency); ++i) ticks /= 10;
  return ticks;
}

Int128 floor_to(Int128 ticks, Int128 unit) {
  const Int128 rest = ticks % unit;
  return ticks - (rest < 0 ? rest + unit : rest);
}

}  // namespace

Money round_to_minor(Money amount) {
  const Int128 unit = ticks_of_minor_unit(amount.currency());
  const Int128 below = floor_to(amount.ticks(), unit);
  const Int128 rest = amount.ticks() - below;
  const bool below_is_even = (below / unit) % 2 == 0;
  const bool up = rest > unit - rest || (rest == unit - rest && !below_is_even);
  return Money::from_ticks(up ? below + unit : below, amount.currency());
}

RoundedAmounts round_to_total(std::span<const Money> amounts, Money target) {
  const Currency currency = target.currency();
  const Int128 unit = ticks_of_minor_unit(currency);
  CHECK(target.ticks() % unit == 0, "a total that is shown has whole minor units");
  Money sum = Money::zero(currency);
  for (const Money& amount : amounts) sum += amount;
  const Int128 sign = sum.is_negative() ? -1 : 1;

  std::vector<Int128> below;
  std::vector<Int128> rest;
  Int128 missing = sign * target.ticks();
  for (const Money& amount : amounts) {
    below.push_back(floor_to(sign * amount.ticks(), unit));
    rest.push_back(sign * amount.ticks() - below.back());
    missing -= below.back();
  }
  std::vector<std::size_t> order(amounts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return rest[a] > rest[b]; });
  for (const std::size_t i : order) {
    if (missing <= 0 || rest[i] == 0) break;
    below[i] += unit;
    missing -= unit;
  }
  RoundedAmounts rounded{{}, Money::from_ticks(sign * missing, currency)};
  for (const Int128 ticks : below) {
    rounded.shown.push_back(Money::from_ticks(sign * ticks, currency));
  }
  return rounded;
}

}  // namespace pennyweight
