#include "insight/anomalies/anomaly.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <utility>

#include "core/split.h"

namespace pennyweight {
namespace {

Money usd(std::int64_t units) { return Money::from_units(units, kUsd); }

std::vector<Money> usd_list(std::initializer_list<std::int64_t> units) {
  std::vector<Money> list;
  for (const std::int64_t one : units) list.push_back(usd(one));
  return list;
}

TEST(Anomalies, TheScoreOfTheReference) {
  const auto found = measure_deviation(usd_list({100, 102, 98, 101, 99, 103, 97, 100}), usd(180));
  EXPECT_EQ(found.expected, usd(100));
  EXPECT_EQ(to_text(found.deviation.amount()), "1.5");
  EXPECT_EQ(found.score_milli, 35973);
}

TEST(Anomalies, AFlatHistoryHasADeviationOfOnePercent) {
  const auto found = measure_deviation(usd_list({100, 100, 100}), usd(110));
  EXPECT_EQ(found.deviation, usd(1));
  EXPECT_EQ(found.score_milli, 6745);
}

struct FleetDays {
  std::vector<Money> days;
  std::vector<Money> at_old_price;  // the same days, had no price changed
  std::size_t at = 0;               // of what was planted
};

// Weekdays with noise of 3 to 8 % and slow growth, and from `at` on something planted.
enum class Planted { kNothing, kSpike, kShift, kDrift, kPrice };
constexpr const char* kPlantedNames[] = {"nothing", "spike", "shift", "drift", "price change"};
FleetDays simulate_days(std::uint64_t seed, Planted planted) {
  std::mt19937_64 random(seed);
  const auto noise = static_cast<std::int64_t>(30 + random() % 50);  // permille
  const std::int64_t weekend = 400 + static_cast<std::int64_t>(random() % 600);
  FleetDays out;
  out.at = 120 + random() % 100;
  const std::int64_t size = 200 + static_cast<std::int64_t>(random() % 800);
  const auto money = [](std::int64_t value) {
    return Money::from_ticks(Int128{value} * 1'000'000'000'000, kUsd);
  };
  for (std::size_t t = 0; t < 365; ++t) {
    std::int64_t value = 1'000'000 + static_cast<std::int64_t>(t) * 200;
    if (t % 7 >= 5) value = value * weekend / 1000;
    std::int64_t chance = 0;
    for (int i = 0; i < 4; ++i) chance += static_cast<std::int64_t>(random() % 2001) - 1000;
    value += value * noise * chance / 1'154'700;  // the standard deviation of the sum is 1,154.7
    const auto since = static_cast<std::int64_t>(t) - static_cast<std::int64_t>(out.at);
    const std::int64_t more = std::max(size, noise * 6);
    if (planted == Planted::kSpike && since == 0) value += value * more / 1000;
    if (planted == Planted::kShift && since >= 0) value += value * more / 1000;
    if (planted == Planted::kDrift && since >= 0 && since < 60) value += value * since * 20 / 1000;
    if (planted == Planted::kDrift && since >= 60) value += value * 1200 / 1000;
    out.at_old_price.push_back(money(value));
    if (planted == Planted::kPrice && since >= 0)
      value = value * (1000 - std::min(more, std::int64_t{800})) / 1000;
    out.days.push_back(money(value));
  }
  return out;
}

// What three instance types cost and held on the first day of an incident and a week before: shares
// of the day that are no round numbers, and as much time as that costs at their old prices.
std::vector<CostAndTime> parts_of(const FleetDays& fleet, const Incident& incident) {
  std::vector<CostAndTime> parts;
  const std::size_t after = incident.first;
  const std::vector<Weight> weights{7, 11, 13};
  const auto shares = [&](const std::vector<Money>& days, std::size_t t) {
    return split(days[t], weights);
  };
  const auto time = [](const Money& cost, std::size_t type) {
    return GpuTime::of(static_cast<UInt128>(cost.ticks()) / (3 + type));
  };
  for (std::size_t type = 0; type < weights.size(); ++type) {
    parts.push_back({"type " + std::to_string(type), shares(fleet.days, after - 7)[type],
                     shares(fleet.days, after)[type],
                     time(shares(fleet.at_old_price, after - 7)[type], type),
                     time(shares(fleet.at_old_price, after)[type], type)});
  }
  return parts;
}

struct DetectionScore {
  int series = 0;
  int found = 0;
  int false_alerts = 0;
  int explained = 0;  // of those found: by what was planted, a price or the volume
};

Int128 size_of_money(const Money& amount) {
  return amount.is_negative() ? -amount.ticks() : amount.ticks();
}

// Looks at one year, and whether each difference is split without a rest.
void score_series(std::uint64_t seed, Planted what, DetectionScore& score) {
  const FleetDays fleet = simulate_days(seed * 5 + static_cast<std::uint64_t>(what), what);
  bool is_found = false;
  for (const Incident& incident : find_incidents(fleet.days, {}, {})) {
    const auto parts = parts_of(fleet, incident);
    const DifferenceSplit difference = split_difference(parts);
    EXPECT_EQ(difference.sum(), fleet.days[incident.first] - fleet.days[incident.first - 7]);
    const bool is_near = what != Planted::kNothing && incident.first + 2 >= fleet.at &&
                         incident.first <= fleet.at + (what == Planted::kDrift ? 120 : 30);
    if (!is_near) {
      ++score.false_alerts;
    } else if (!std::exchange(is_found, true)) {
      const bool is_price = size_of_money(difference.price) > size_of_money(difference.volume);
      if (is_price == (what == Planted::kPrice)) ++score.explained;
    }
  }
  ++score.series;
  if (is_found) ++score.found;
}

// Precision, recall and false alerts a year over simulated series, as the requirements count them.
TEST(Anomalies, PlantedChangesAreFoundAndLittleElse) {
  int found = 0;
  int planted = 0;
  int false_alerts = 0;
  int series = 0;
  // 2,000 make the 10,000 series of the guide's table.
  const char* const wanted = std::getenv("PENNYWEIGHT_SEEDS");
  const std::uint64_t seeds = wanted == nullptr ? 60 : std::strtoull(wanted, nullptr, 10);
  // Of each kind: of few series chance decides.
  const int percent_min = seeds < 1000 ? 80 : 90;
  for (const Planted what :
       {Planted::kNothing, Planted::kSpike, Planted::kShift, Planted::kDrift, Planted::kPrice}) {
    DetectionScore score;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) score_series(seed, what, score);
    std::cout << kPlantedNames[static_cast<std::size_t>(what)] << ": " << score.series
              << " series of a year, " << score.found << " found, " << score.false_alerts
              << " false alerts, " << score.explained << " explained by what was planted\n";
    series += score.series;
    false_alerts += score.false_alerts;
    if (what == Planted::kNothing) continue;
    planted += score.series;
    found += score.found;
    EXPECT_GE(score.found * 100, score.series * percent_min) << score.found;
    EXPECT_LE(score.false_alerts, score.series) << "a series is a year";
    const int told = score.found + score.false_alerts;
    EXPECT_GE(score.found * 100, told * percent_min) << score.false_alerts;
    EXPECT_GE(score.explained * 100, score.found * percent_min) << score.explained;
  }
  std::cout << series << " series of a year: " << found << " of " << planted << " found, "
            << false_alerts << " false alerts\n";
  EXPECT_GE(found * 10, planted * 9) << found << " of " << planted;
  EXPECT_LE(false_alerts, series) << "a series is a year";
  EXPECT_GE(found * 10, (found + false_alerts) * 9) << false_alerts << " false alerts";
}

TEST(Anomalies, DaysInARowAreOneIncident) {
  std::vector<Money> days(100, usd(100));
  for (std::size_t t = 80; t < 85; ++t) days[t] = usd(400);
  const auto incidents = find_incidents(days, {}, {});
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].first, 80u);
  EXPECT_EQ(incidents[0].last, 84u);
  EXPECT_EQ(incidents[0].impact(), usd(1500));
  EXPECT_FALSE(incidents[0].is_open);
}

TEST(Anomalies, AMissingDayIsNoAnomaly) {
  std::vector<Money> days(60, usd(100));
  days[50] = usd(0);
  std::vector<bool> missing(60, false);
  missing[50] = true;
  EXPECT_TRUE(find_incidents(days, missing, {}).empty());
  EXPECT_EQ(find_incidents(days, {}, {}).size(), 1u);
}

TEST(Anomalies, SmallChangesOfTidySeriesAreNoAnomalies) {
  std::vector<Money> days(60, usd(100));
  days[59] = usd(109);  // a score of 6, and an impact of 9 %
  EXPECT_TRUE(find_incidents(days, {}, {}).empty());
  days[59] = usd(110);
  EXPECT_EQ(find_incidents(days, {}, {}).size(), 1u);
  EXPECT_TRUE(find_incidents(days, {}, {.impact_min = usd(11)}).empty());
  EXPECT_TRUE(find_incidents(std::vector<Money>(20, usd(1)), {}, {}).empty());
  EXPECT_TRUE(find_incidents({}, {}, {}).empty());
}

TEST(Anomalies, PriceVolumeAndMixByHand) {
  // a: 10 h at 2, then 20 h at 3. b: 10 h at 4, then 10 h at 4.
  const std::vector<CostAndTime> parts{{"a", usd(20), usd(60), GpuTime::of(10), GpuTime::of(20)},
                                       {"b", usd(40), usd(40), GpuTime::of(10), GpuTime::of(10)}};
  const auto split = split_difference(parts);
  EXPECT_EQ(split.price, usd(20));
  EXPECT_EQ(split.volume, usd(30));  // 30 h at the average of 3, before 20 h
  EXPECT_EQ(split.mix, usd(-10));
  EXPECT_EQ(split.sum(), usd(40));
  const auto causes = contributions(parts);
  EXPECT_EQ(causes[0].key, "a");
  EXPECT_EQ(causes[0].permille, 1000);
}

TEST(Anomalies, APriceIsTheCauseOfHalfOfTheDifferenceOrMore) {
  const auto cause = [](std::int64_t cost_after, std::uint64_t hours_after, std::int64_t other) {
    const std::vector<CostAndTime> parts{
        {"p5", usd(100), usd(cost_after), GpuTime::of(10), GpuTime::of(hours_after)},
        {"new", usd(0), usd(other), GpuTime::of(0), GpuTime::of(10)}};
    const CostAndTime* found = find_price_cause(parts);
    return found == nullptr ? std::string("none") : found->key;
  };
  EXPECT_EQ(cause(130, 10, 0), "p5");
  EXPECT_EQ(cause(70, 10, 0), "p5") << "a lower price, too";
  EXPECT_EQ(cause(130, 13, 0), "none") << "more time at the same price";
  EXPECT_EQ(cause(130, 10, 30), "p5") << "just half";
  EXPECT_EQ(cause(130, 10, 31), "none");
  EXPECT_EQ(cause(130, 10, -130), "none") << "against the whole difference";
  EXPECT_EQ(find_price_cause({}), nullptr);
}

RC_GTEST_PROP(Anomalies, TheSplitAddsUpToTheLastTick, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 8);
  std::vector<CostAndTime> parts;
  Money whole = usd(0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto ticks = [] {
      return Money::from_ticks(Int128{*rc::gen::arbitrary<std::int64_t>()} * 1'000'003, kUsd);
    };
    const auto time = [] {
      return GpuTime::of(*rc::gen::inRange<std::uint64_t>(0, 1'000'000'000'000'000'000));
    };
    parts.push_back({"", ticks(), ticks(), time(), time()});
    whole += parts.back().cost_after - parts.back().cost_before;
  }
  RC_ASSERT(split_difference(parts).sum() == whole);
}

}  // namespace
}  // namespace pennyweight
