// split: nothing lost, nothing invented, the same result every time.
#include "core/split.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace pennyweight {
namespace {

using Units = std::vector<UInt128>;

std::vector<std::string> texts(const Units& units) {
  std::vector<std::string> out;
  for (const UInt128 unit : units) out.push_back(to_text(unit));
  return out;
}

// Published apportionments by largest remainders (Hamilton, Vinton).
TEST(Split, AgreesWithPublishedApportionments) {
  struct Case {
    const char* name;
    UInt128 total;
    Units weights;
    Units want;
  };
  const Case cases[] = {
      {"three equal parties", 10'000, {1, 1, 1}, {3334, 3333, 3333}},
      {"7 seats over 50/30/20", 7, {50, 30, 20}, {4, 2, 1}},
      // With one more seat, the smallest state gets one less.
      {"Alabama paradox before", 10, {6, 6, 2}, {4, 4, 2}},
      {"Alabama paradox after", 11, {6, 6, 2}, {5, 5, 1}},
      {"LINDO, a tie at .6",
       100,
       {37, 116, 98, 448, 96, 115, 61, 27, 2},
       {4, 12, 10, 45, 9, 11, 6, 3, 0}},
      // The quotas of the states in 1790, Virginia first, times 10,000.
      {"US House of 1790",
       105,
       {183'104, 138'027, 125'700, 102'657, 96'288, 80'876, 68'774, 59'887, 52'144, 41'183, 24'837,
        20'569, 19'951, 19'876, 16'128},
       {18, 14, 13, 10, 10, 8, 7, 6, 5, 4, 2, 2, 2, 2, 2}},
      {"nothing to split", 0, {3, 0, 4}, {0, 0, 0}},
      {"one tick, first of equals", 1, {5, 5, 5}, {1, 0, 0}},
      {"one party", 12'345, {7}, {12'345}},
      {"a zero weight between", 10, {1, 0, 1}, {5, 0, 5}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(texts(split_units(c.total, c.weights)), texts(c.want)) << c.name;
  }
}

TEST(Split, ACreditMirrorsTheChargeItUndoes) {
  const Units weights = {1, 1, 1};
  const auto charge = split(Money::from_units(100, kUsd), weights);
  const auto credit = split(-Money::from_units(100, kUsd), weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_TRUE((charge[i] + credit[i]).is_zero());
  }
  EXPECT_EQ(to_text(charge[0].amount()), "33.333333333333333334");
  EXPECT_EQ(to_text(credit[2].amount()), "-33.333333333333333333");
}

TEST(Split, HandlesTheLargestTotalsAndWeights) {
  constexpr auto kMost = static_cast<UInt128>(kInt128Max);
  const Units halves = {kMost / 2, kMost / 2, 1};
  const auto shares = split(Money::from_ticks(kInt128Max, kUsd), halves);
  EXPECT_TRUE(shares[0].ticks() == kInt128Max / 2);
  EXPECT_TRUE(shares[1].ticks() == kInt128Max / 2);
  EXPECT_TRUE(shares[2].ticks() == 1);
  EXPECT_EQ(texts(split_units(~UInt128{0}, Units{kMost})), texts({~UInt128{0}}));
}

TEST(Split, RefusesZeroWeightsAndWeightsPastTheirLimit) {
  const Money dollar = Money::from_units(1, kUsd);
  constexpr auto kMost = static_cast<UInt128>(kInt128Max);
  EXPECT_THROW((void)split(dollar, Units{}), InvariantError);
  EXPECT_THROW((void)split(dollar, Units{0, 0}), InvariantError);
  EXPECT_THROW((void)split(dollar, Units{kMost, 1}), InvariantError);
  EXPECT_THROW((void)split(dollar, Units{~UInt128{0}, 2}), InvariantError);
}

// Weights of every size, zeros and equal ones among them, adding up to less than 2^127.
rc::Gen<Units> any_weights() {
  const auto weight =
      rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<std::uint64_t>(),
                                  rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(0, 129)),
                   [](const auto& parts) -> UInt128 {
                     const auto& [high, low, shift] = parts;
                     // 2^120 at most each, and no more than a hundred of them.
                     return shift >= 120 ? UInt128{0} : ((UInt128{high} << 64 | low) >> 8) >> shift;
                   });
  const auto small = rc::gen::map(rc::gen::inRange(0, 4), [](int w) { return UInt128(w); });
  const auto of = [](const rc::Gen<UInt128>& one) {
    return rc::gen::suchThat(rc::gen::container<Units>(one), [](const Units& weights) {
      return weights.size() <= 100 &&
             std::any_of(weights.begin(), weights.end(), [](UInt128 w) { return w > 0; });
    });
  };
  return rc::gen::oneOf(of(weight), of(small));
}

RC_GTEST_PROP(SplitProperty, AddsUpKeepsTheQuotaAndSparesZeroWeights,
              (std::uint64_t high, std::uint64_t low)) {
  const Units weights = *any_weights();
  const UInt128 total = (UInt128{high} << 64 | low) >> *rc::gen::inRange(0, 128);
  const Units shares = split_units(total, weights);
  const UInt128 weight_sum = std::accumulate(weights.begin(), weights.end(), UInt128{0});

  RC_ASSERT(shares.size() == weights.size());
  RC_ASSERT(std::accumulate(shares.begin(), shares.end(), UInt128{0}) == total);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    // |x - q| < 1: the share is the floor of the exact quota, or one more where there is a
    // fraction.
    const auto [floor, fraction] = [&] {
      const UInt128 whole = total / weight_sum;
      const auto rest = multiply_divide(total % weight_sum, weights[i], weight_sum);
      return std::pair(whole * weights[i] + rest.quotient, rest.remainder);
    }();
    RC_ASSERT(shares[i] == floor || (shares[i] == floor + 1 && fraction > 0));
    if (weights[i] == 0) RC_ASSERT(shares[i] == UInt128{0});
    // A larger weight never gets less; among equal weights, the earlier one never gets less.
    for (std::size_t j = i + 1; j < shares.size(); ++j) {
      if (weights[i] == weights[j]) {
        RC_ASSERT(shares[i] == shares[j] || shares[i] == shares[j] + 1);
      }
      if (weights[i] > weights[j]) RC_ASSERT(shares[i] >= shares[j]);
      if (weights[i] < weights[j]) RC_ASSERT(shares[i] <= shares[j]);
    }
  }
  RC_ASSERT(split_units(total, weights) == shares);
}

RC_GTEST_PROP(SplitProperty, MoneyAddsUpWithItsSign, (std::int64_t high, std::uint64_t low)) {
  const Units weights = *any_weights();
  const Money total =
      Money::from_ticks((Int128{high} * (Int128{1} << 32)) + static_cast<Int128>(low), kEur);
  Money sum = Money::zero(kEur);
  for (const Money share : split(total, weights)) {
    RC_ASSERT(share.is_zero() || share.is_negative() == total.is_negative());
    sum += share;
  }
  RC_ASSERT(sum == total);
}

}  // namespace
}  // namespace pennyweight
