// Published figures of Daly 2006, of spot traces of 2023 and of a newsvendor by hand, each to its
// last printed digit.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "insight/advice/formulas/card_fit.h"
#include "insight/advice/formulas/checkpoints.h"
#include "insight/advice/formulas/commitment.h"

namespace pennyweight::advising {
namespace {

constexpr double kMinute = 1.0 / 60;

std::string digits(double value, int after_point) {
  return fmt::format("{:.{}f}", value, after_point);
}

TEST(Checkpoints, DalyYoungAndTheExactInterval) {
  struct Vector {
    double mean_min;
    const char* daly;
    const char* daly_in_paper;
    int paper_digits;
    const char* exact;
    const char* young;
  };
  for (const Vector& vector : {Vector{24 * 60, "116.690", "117", 0, "116.690", "120.000"},
                               Vector{6 * 60, "56.713", "57", 0, "56.714", "60.000"},
                               Vector{15, "9.141", "9.1", 1, "9.167", "12.247"}}) {
    const Interruptions interruptions{vector.mean_min, 5, 10};
    EXPECT_EQ(digits(daly_interval(interruptions), 3), vector.daly) << vector.mean_min;
    EXPECT_EQ(digits(daly_interval(interruptions), vector.paper_digits), vector.daly_in_paper);
    EXPECT_EQ(digits(exact_interval(interruptions), 3), vector.exact) << vector.mean_min;
    EXPECT_EQ(digits(young_interval(interruptions), 3), vector.young) << vector.mean_min;
  }
  // Where saving takes longer than jobs live, there is nothing to gain from saving more often.
  EXPECT_EQ(daly_interval({1, 2, 0}), 1);
}

TEST(Checkpoints, NoSavesAtAll) {
  EXPECT_EQ(digits(expected_time_without_saves(5.718, 4), 3), "5.791");
}

TEST(Spot, BreakEvenByZone) {
  struct Zone {
    const char* name;
    double mean_h;
    const char* daly_min;
    const char* paid;
    const char* break_even_percent;
  };
  for (const Zone& zone : {Zone{"us-east-1a", 0.719, "11.84", "1.5476", "35.4"},
                           Zone{"us-east-1f", 2.265, "22.00", "1.2379", "19.2"},
                           Zone{"us-east-2a", 5.718, "35.72", "1.1326", "11.7"},
                           Zone{"us-west-2b", 10.512, "48.90", "1.0927", "8.5"}}) {
    const Interruptions interruptions{zone.mean_h, 2 * kMinute, 5 * kMinute};
    const double interval = daly_interval(interruptions);
    const double paid = paid_time_per_work(interruptions, interval);
    EXPECT_EQ(digits(interval * 60, 2), zone.daly_min) << zone.name;
    EXPECT_EQ(digits(paid, 4), zone.paid) << zone.name;
    EXPECT_EQ(digits(break_even_discount(paid) * 100, 1), zone.break_even_percent) << zone.name;
  }
}

TEST(Spot, BreakEvenOfLongSaves) {
  // Elsewhere printed with one digit: 62.2, 45.4, 28.6, 19.9 and, from 12.5498, 12.6.
  const std::vector<std::pair<double, const char*>> vectors = {
      {1, "62.17"}, {2, "45.38"}, {5, "28.57"}, {10, "19.88"}, {24, "12.55"}};
  for (const auto& [mean, percent] : vectors) {
    const Interruptions interruptions{mean, 10 * kMinute, 20 * kMinute};
    const double paid = paid_time_per_work(interruptions, daly_interval(interruptions));
    EXPECT_EQ(digits(break_even_discount(paid) * 100, 2), percent) << mean;
  }
}

TEST(Spot, SavesTwoThirdsInAGoodZone) {
  const Interruptions interruptions{10.512, 2 * kMinute, 5 * kMinute};
  const SpotOffer offer{.on_demand_price = 3.06, .spot_price = 0.918, .availability = 0.905};
  const SpotVerdict verdict = judge_spot(
      {.is_checkpointable = true, .work = 10, .deadline_slack = 5}, offer, interruptions);
  EXPECT_EQ(digits(price_per_useful_hour(0.918, verdict.paid_time_per_work), 5), "1.00308");
  EXPECT_EQ(digits(verdict.saving * 100, 2), "67.22");
  EXPECT_TRUE(verdict.pays) << verdict.reason;
  // Each condition by itself is enough to say no.
  EXPECT_FALSE(judge_spot({.is_checkpointable = false, .work = 10, .deadline_slack = 5}, offer,
                          interruptions)
                   .pays);
  EXPECT_FALSE(
      judge_spot({.is_checkpointable = true, .work = 10, .deadline_slack = 2}, offer, interruptions)
          .pays);
  // 8.5 % to break even and 10 points beyond: 18 % off is not enough, 19 % is.
  const SpotJob job{.is_checkpointable = true, .work = 10, .deadline_slack = 5};
  EXPECT_FALSE(judge_spot(job, {3.0, 3.0 * 0.82, 0.905}, interruptions).pays);
  EXPECT_TRUE(judge_spot(job, {3.0, 3.0 * 0.81, 0.905}, interruptions).pays);
}

const std::vector<std::uint64_t> kDemand = {2, 3, 3, 4, 5, 5, 6, 8, 10, 12};

Decimal decimal(const char* text) { return parse_exact_decimal(text).value(); }

TEST(Commitment, NewsvendorByHand) {
  const CommitmentPrices prices{decimal("3"), decimal("1.8")};
  const std::vector<std::pair<std::uint64_t, const char*>> per_ten_hours = {
      {0, "174"}, {1, "162"}, {2, "150"}, {3, "141"}, {4, "138"},
      {5, "138"}, {6, "144"}, {8, "162"}, {12, "216"}};
  for (const auto& [units, cost] : per_ten_hours) {
    EXPECT_EQ(to_text(commitment_cost(kDemand, prices, units)), cost) << units;
  }
  // 4 and 5 tie at the exact break-even; the smaller one binds less.
  EXPECT_EQ(best_commitment(kDemand, prices), 4u);
}

// 40 % off pays from a use of 60 %: 1 - r/(p u) is saved.
TEST(Commitment, EffectiveSavingsByUse) {
  struct Use {
    std::uint64_t used_of_ten;
    const char* saved_percent;
  };
  for (const Use& use : {Use{5, "-20.0"}, Use{6, "0.0"}, Use{8, "25.0"}, Use{10, "40.0"}}) {
    std::vector<std::uint64_t> demand(10, 0);
    std::fill_n(demand.begin(), use.used_of_ten, 1);
    const CommitmentPrices prices{decimal("3"), decimal("1.8")};
    const double now = static_cast<double>(commitment_cost(demand, prices, 0).ticks());
    const double then = static_cast<double>(commitment_cost(demand, prices, 1).ticks());
    EXPECT_EQ(digits((1 - then / now) * 100, 1), use.saved_percent) << use.used_of_ten;
  }
}

TEST(Commitment, NeverDearerThanNone) {
  EXPECT_EQ(best_commitment(kDemand, {decimal("3"), decimal("3")}), 0u);
  EXPECT_EQ(best_commitment({}, {decimal("3"), decimal("1")}), 0u);
  EXPECT_EQ(best_commitment(kDemand, {decimal("3"), decimal("0")}), 12u);
}

RC_GTEST_PROP(CommitmentProperties, EqualsBruteForce, ()) {
  const auto demand =
      *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 30));
  const CommitmentPrices prices{Decimal::from_ticks(*rc::gen::inRange(1, 50)),
                                Decimal::from_ticks(*rc::gen::inRange(0, 50))};
  std::uint64_t best = 0;
  for (std::uint64_t units = 1; units <= 30; ++units) {
    if (commitment_cost(demand, prices, units) < commitment_cost(demand, prices, best)) {
      best = units;
    }
  }
  RC_ASSERT(best_commitment(demand, prices) == best);
}

constexpr Card kA100{80, 2039, 312, 4.00};
constexpr Card kL40S{48, 864, 362, 1.90};
constexpr Card kL4{24, 300, 121, 0.80};

TEST(CardFit, SmallerCards) {
  const CardLoad load{
      .mean_activity = 0.35, .p95_activity = 0.45, .mean_dram = 0.25, .p99_memory_gb = 18};
  const CardFit l40s = fit_smaller_card(load, kA100, kL40S);
  EXPECT_TRUE(l40s.fits) << l40s.reason;
  EXPECT_EQ(digits(l40s.compute, 3), "0.302");
  EXPECT_EQ(digits(l40s.bandwidth, 3), "0.590");
  EXPECT_EQ(l40s.slowdown, 1);
  EXPECT_EQ(digits((1 - l40s.relative_cost) * 100, 1), "52.5");

  // 1.7 times slower: only for work that may take longer.
  const CardFit l4 = fit_smaller_card(load, kA100, kL4);
  EXPECT_FALSE(l4.fits);
  EXPECT_TRUE(l4.fits_if_slower);
  EXPECT_EQ(digits(l4.compute, 3), "0.902");
  EXPECT_EQ(digits(l4.bandwidth, 3), "1.699");
  EXPECT_EQ(digits(l4.slowdown, 3), "1.699");
  EXPECT_EQ(digits(l4.relative_cost * 4.00, 3), "1.359");
}

TEST(CardFit, WhatForbidsASmallerCard) {
  const CardLoad load{
      .mean_activity = 0.2, .p95_activity = 0.3, .mean_dram = 0.1, .p99_memory_gb = 10};
  EXPECT_TRUE(fit_smaller_card(load, kA100, kL40S).fits);
  CardLoad busy = load;
  busy.p95_activity = 0.5;
  EXPECT_FALSE(fit_smaller_card(busy, kA100, kL40S).fits);
  CardLoad full = load;
  full.p99_memory_gb = 40.1;  // 48.12 GB with head-room
  EXPECT_FALSE(fit_smaller_card(full, kA100, kL40S).fits);
  full.p99_memory_gb = 40;
  EXPECT_TRUE(fit_smaller_card(full, kA100, kL40S).fits);
  Card dear = kL40S;
  dear.price_per_hour = 4.00;
  EXPECT_FALSE(fit_smaller_card(load, kA100, dear).fits);
  Card without_type = kL40S;
  without_type.dense_tflops = 0;  // such as BF16 on a V100
  EXPECT_FALSE(fit_smaller_card(load, kA100, without_type).fits);
  EXPECT_FALSE(fit_smaller_card(load, kA100, without_type).fits_if_slower);
}

TEST(CardFit, LargerCards) {
  constexpr Card kH100{80, 3350, 989, 6.00};
  const CardLoad load{
      .mean_activity = 0.95, .p95_activity = 0.99, .mean_dram = 0.7, .p99_memory_gb = 60};
  // 1.5 times the price, 1.643 times as fast in the slower of both.
  const CardFit fit = fit_larger_card(load, kA100, kH100);
  EXPECT_TRUE(fit.fits) << fit.reason;
  EXPECT_EQ(digits(fit.relative_cost, 3), "0.913");
  Card dear = kH100;
  dear.price_per_hour = 7.00;
  EXPECT_FALSE(fit_larger_card(load, kA100, dear).fits);
  CardLoad calm = load;
  calm.mean_activity = 0.9;
  EXPECT_FALSE(fit_larger_card(calm, kA100, kH100).fits);
}

TEST(CardFit, MigProfiles) {
  const CardLoad load{
      .mean_activity = 0.2, .p95_activity = 0.4, .mean_dram = 0.1, .p99_memory_gb = 16};
  EXPECT_FALSE(fits_mig_profile(load, 2, 7, 20));  // 2/7 < 0.4
  EXPECT_TRUE(fits_mig_profile(load, 3, 7, 40));
  EXPECT_FALSE(fits_mig_profile(load, 3, 7, 19));  // 19.2 GB are needed
}

}  // namespace
}  // namespace pennyweight::advising
