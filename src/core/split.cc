#include "core/split.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "core/check.h"

namespace pennyweight {
namespace {

Weight sum_of(std::span<const Weight> weights) {
  constexpr auto kMax = static_cast<Weight>(kInt128Max);
  Weight sum = 0;
  for (const Weight weight : weights) {
    const bool overflow = __builtin_add_overflow(sum, weight, &sum);
    CHECK(!overflow && sum <= kMax, "the weights must add up to less than 2^127");
  }
  CHECK(sum > 0, "somebody must pay");
  return sum;
}

}  // namespace

std::vector<UInt128> split_units(UInt128 total, std::span<const Weight> weights) {
  // Take the whole multiples of weight_sum first, so that most products stay in 128 bits:
  //   total = whole * weight_sum + rest,  share = whole * weight + rest * weight / weight_sum
  const Weight weight_sum = sum_of(weights);
  const UInt128 whole = total / weight_sum;
  const UInt128 rest = total % weight_sum;

  std::vector<UInt128> shares(weights.size());
  std::vector<UInt128> remainders(weights.size());
  UInt128 handed_out = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto [quotient, remainder] = multiply_divide(rest, weights[i], weight_sum);
    shares[i] = whole * weights[i] + quotient;
    remainders[i] = remainder;
    handed_out += shares[i];
  }
  CHECK(handed_out <= total, "floors can't exceed the whole");
  if (handed_out == total) return shares;
  CHECK(total - handed_out < weights.size(), "fewer leftover ticks than parties");
  const auto leftover = static_cast<std::size_t>(total - handed_out);

  // The `leftover` largest remainders, the earlier party first among equals: a strict order, so
  // a partial selection gives the same set as a full sort.
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(leftover - 1),
                   order.end(), [&](std::size_t a, std::size_t b) {
                     return remainders[a] != remainders[b] ? remainders[a] > remainders[b] : a < b;
                   });
  for (std::size_t i = 0; i < leftover; ++i) {
    CHECK(remainders[order[i]] > 0, "a leftover tick goes only to a party with a fraction");
    shares[order[i]] += 1;
  }
  return shares;
}

std::vector<Money> split(Money total, std::span<const Weight> weights) {
  const Money size = total.is_negative() ? -total : total;
  std::vector<Money> shares;
  shares.reserve(weights.size());
  Money sum = Money::zero(total.currency());
  for (const UInt128 ticks : split_units(static_cast<UInt128>(size.ticks()), weights)) {
    const Money share = Money::from_ticks(static_cast<Int128>(ticks), total.currency());
    shares.push_back(total.is_negative() ? -share : share);
    sum += shares.back();
  }
  CHECK(sum == total, "the shares must add up to the whole");
  return shares;
}

}  // namespace pennyweight
