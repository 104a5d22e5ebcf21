// Energy once per card, whatever its rows; and its division among holders, by hand and at random.
#include "reporting/queries/usage_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/card_share.h"
#include "reporting/queries/card_energy.h"

namespace pennyweight {
namespace {

Instant when(const char* text) { return parse_instant(text).value(); }
Interval span_of(const char* begin, const char* end) { return {when(begin), when(end)}; }

const Policy kUtcPolicy = [] {
  Policy policy;
  policy.time_zone = TimeZone::utc();
  return policy;
}();

Usage reading(const char* at, std::optional<std::uint64_t> power,
              std::optional<std::uint64_t> counter, const char* instance = "") {
  Usage usage{.cluster = ClusterId("c"),
              .node = NodeId("n1"),
              .gpu = GpuId("GPU-1"),
              .mig_instance = instance,
              .mig_profile = {},
              .model = {},
              .at = when(at),
              .gpu_util_ppm = {},
              .engine_active_ppm = {},
              .sm_active_ppm = {},
              .memory_used_bytes = {},
              .memory_total_bytes = {},
              .power_milliwatts = power,
              .energy_millijoules = counter,
              .workload = WorkloadId(""),
              .id = {},
              .source = {}};
  return usage;
}

UInt128 energy_in(const std::vector<EnergySegment>& segments, const Interval& time) {
  UInt128 sum = 0;
  for (const EnergySegment& each : segments) {
    const std::int64_t a = std::max(each.begin_ms, unix_ms(time.begin()));
    const std::int64_t b = std::min(each.end_ms, unix_ms(time.end()));
    if (a < b) sum += each.taken(a, b);
  }
  return sum;
}

// Units of so many microjoules.
constexpr UInt128 microjoules(UInt128 number) {
  return number * kEnergyUnits / kEnergyUnitMicrojoules;
}

UInt128 energy_of_rows(std::vector<Usage> rows, const Interval& time) {
  CardEnergy card(kUtcPolicy.usage);
  for (const Usage& row : rows) card.add(row);
  return energy_in(card.segments(), time);
}

const Interval kMarchFirst = span_of("2026-03-01", "2026-03-02");

// 300 W for a minute, reported on the card and on each of its instances: 18 kJ, once.
TEST(CardEnergy, PowerOfACardCountsOnceWhateverItsInstances) {
  std::vector<Usage> rows;
  for (const char* instance : {"", "1", "2", "3", "9"}) {
    rows.push_back(reading("2026-03-01T00:00:00Z", 300'000, {}, instance));
    rows.push_back(reading("2026-03-01T00:01:00Z", 0, {}, instance));
  }
  EXPECT_EQ(energy_of_rows(rows, kMarchFirst), microjoules(UInt128{18'000} * 1'000'000));
}

TEST(CardEnergy, TheCounterIsBetterThanPowerAndIsNotReadAcrossAReset) {
  // 1 kJ by the counter, whatever the power says; then the driver was loaded again.
  const std::vector<Usage> rows = {reading("2026-03-01T00:00:00Z", 300'000, 5'000'000),
                                   reading("2026-03-01T00:01:00Z", 300'000, 6'000'000),
                                   reading("2026-03-01T00:02:00Z", 100'000, 10)};
  // The minute of the reset is known by power: 300 W. After it 100 W for two minutes and a half.
  EXPECT_EQ(energy_of_rows(rows, kMarchFirst),
            microjoules(UInt128{1'000 + 18'000 + 15'000} * 1'000'000));
}

TEST(CardEnergy, AReadingHoldsNoLongerThanThePolicyLetsIt) {
  EXPECT_EQ(energy_of_rows({reading("2026-03-01T00:00:00Z", 1'000'000, {})}, kMarchFirst),
            microjoules(UInt128{150'000} * 1'000'000));  // 2.5 minutes of a kilowatt
}

TEST(CardEnergy, ASpansEnergyIsBetterThanAll) {
  Usage span = reading("2026-03-01T00:00:00Z", 400'000, {});
  span.span_ms = 60'000;
  span.energy_used_millijoules = 20'000'000;
  Usage copy = span;
  copy.mig_instance = "1";
  EXPECT_EQ(energy_of_rows({span, copy, reading("2026-03-01T00:00:30Z", 900'000, {})},
                           span_of("2026-03-01T00:00:00Z", "2026-03-01T00:01:00Z")),
            microjoules(UInt128{20'000} * 1'000'000));
}

// Days read with what surrounds them add up to the whole, and the order of rows decides nothing.
RC_GTEST_PROP(CardEnergyProperty, DaysAddUpAndOrderDecidesNothing, ()) {
  std::vector<Usage> rows;
  const auto count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) {
    Usage row = reading("2026-02-28T00:00:00Z", {}, {}, *rc::gen::element("", "1", "2"));
    row.at = row.at + std::chrono::milliseconds(*rc::gen::inRange<std::int64_t>(0, 4 * 86'400'000));
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        row.energy_millijoules = *rc::gen::inRange<std::uint64_t>(0, 1'000'000'007);
        break;
      case 1:
        row.power_milliwatts = *rc::gen::inRange<std::uint64_t>(0, 700'001);
        break;
      case 2:
        row.span_ms = *rc::gen::inRange<std::uint32_t>(1, 4'800'000);
        row.energy_used_millijoules = *rc::gen::inRange<std::uint64_t>(0, 9'999'991);
        break;
      default:
        row.span_ms = *rc::gen::inRange<std::uint32_t>(1, 4'800'000);
        row.power_milliwatts = *rc::gen::inRange<std::uint64_t>(0, 700'001);
    }
    rows.push_back(row);
  }
  const Interval two_days = span_of("2026-03-01", "2026-03-03");
  const UInt128 whole = energy_of_rows(rows, two_days);
  std::shuffle(rows.begin(), rows.end(), std::mt19937_64(*rc::gen::arbitrary<std::uint64_t>()));
  RC_ASSERT(energy_of_rows(rows, two_days) == whole);

  CardEnergy card(kUtcPolicy.usage);
  for (const Usage& row : rows) card.add(row);
  UInt128 days = 0;
  for (const Interval& day : cut_by_day(two_days, TimeZone::utc())) {
    card.forget_before(day.begin());
    days += energy_in(card.segments(), day);
  }
  RC_ASSERT(days == whole);
}

Node machine(const char* name, std::uint32_t gpus) {
  return {.cluster = ClusterId("c"),
          .name = NodeId(name),
          .provider_id = {},
          .instance_type = {},
          .region = {},
          .pool = PoolId("a"),
          .gpu_model = "NVIDIA A100-SXM4-40GB",
          .gpu_count = gpus,
          .cpu_milli = {},
          .memory_bytes = {},
          .from = when("2026-01-01"),
          .to = {},
          .id = {},
          .source = {}};
}

Gpu card_of(const char* uuid, const char* node) {
  return {.cluster = ClusterId("c"),
          .node = NodeId(node),
          .uuid = GpuId(uuid),
          .index = 0,
          .model = "NVIDIA A100-SXM4-40GB",
          .memory_bytes = {},
          .mig_instances = {},
          .from = when("2026-01-01"),
          .to = {},
          .id = {},
          .source = {}};
}

Holding held_by(const char* user, const Interval& time, Placement where) {
  Holding holding(ClusterId("c"), WorkloadId(user), time, std::move(where));
  EXPECT_TRUE(holding.labels.set("user", user));
  return holding;
}

UsageMeasures row_of(const UsageReport& report, const char* key) {
  const auto found = report.rows().find({"", {key}});
  return found == report.rows().end() ? UsageMeasures() : found->second;
}

constexpr std::uint64_t kAnHourMs = 3'600'000;
GpuTime card_hours(std::uint64_t hours) { return CardShare::whole().over_ms(hours * kAnHourMs); }

ObservedDay day_of_march_first() {
  ObservedDay day{.cluster = ClusterId("c"),
                  .during = kMarchFirst,
                  .utilization = {.during = kMarchFirst, .series = {}, .placed = {}},
                  .energy = {},
                  .nodes = {}};
  const std::int64_t begin = unix_ms(kMarchFirst.begin()), end = unix_ms(kMarchFirst.end());
  day.energy[GpuId("GPU-1")] = {{begin, end, begin, end, 24'000'000}};
  day.energy[GpuId("GPU-2")] = {{begin, end, begin, end, 48'000'001}};
  // Both cards are half busy all day, in units of a whole device.
  for (const char* uuid : {"GPU-1", "GPU-2"}) {
    day.utilization.series.push_back(
        {.device = GpuId(uuid),
         .workload = WorkloadId(""),
         .intervals = {{0, 86'400'000, 36'036'000, UtilizationInterval::kUnknown}}});
  }
  return day;
}

// Ann has GPU-1 for 6 hours, bo both GPUs of the node for the 12 after that; nobody the rest.
TEST(UsageReport, EnergyIsDividedByWhatIsHeld) {
  const std::vector<Node> nodes = {machine("n1", 2)};
  const std::vector<Gpu> gpus = {card_of("GPU-1", "n1"), card_of("GPU-2", "n1")};
  UsageReport report({.by = {"user"}, .filters = {}}, kUtcPolicy, nodes, gpus);
  ASSERT_TRUE(report.is_of_holders());
  const std::vector<Holding> holdings = {
      held_by("ann", span_of("2026-03-01T00:00:00Z", "2026-03-01T06:00:00Z"),
              OnGpus{{GpuId("GPU-1")}}),
      held_by("bo", span_of("2026-03-01T06:00:00Z", "2026-03-01T18:00:00Z"),
              OnNodes{{{NodeId("n1"), 2}}})};
  report.add_day(day_of_march_first(), holdings);
  const UsageMeasures ann = row_of(report, "ann"), bo = row_of(report, "bo");
  EXPECT_EQ(ann.energy, static_cast<Int128>(microjoules(6'000'000)));
  EXPECT_EQ(ann.there, card_hours(6));
  EXPECT_EQ(ann.seen, card_hours(6));
  EXPECT_EQ(bo.energy, static_cast<Int128>(microjoules(12'000'000)) +
                           static_cast<Int128>(microjoules(48'000'001) / 2));
  EXPECT_EQ(bo.there, card_hours(24));
  EXPECT_EQ(bo.seen, card_hours(24));
  EXPECT_EQ(bo.busy / bo.seen.count(), UInt128{CardShare::kUnitsPerCard / 2});
  EXPECT_EQ(bo.p95_permille(), 500U);
  EXPECT_EQ(report.total().energy, static_cast<Int128>(microjoules(72'000'001)));
  EXPECT_EQ(report.total().there, card_hours(48));
  EXPECT_EQ(row_of(report, "(nobody)").there, card_hours(18));
}

// One GPU of two that no source tells: its energy is the same part of both, its utilisation unseen.
TEST(UsageReport, WhatIsNotKnownIsNotSeen) {
  const std::vector<Node> nodes = {machine("n1", 2)};
  const std::vector<Gpu> gpus = {card_of("GPU-1", "n1"), card_of("GPU-2", "n1")};
  UsageReport report({.by = {"user"}, .filters = {}}, kUtcPolicy, nodes, gpus);
  const std::vector<Holding> holdings = {held_by("ann", kMarchFirst, OnNodes{{{NodeId("n1"), 1}}})};
  ObservedDay day = day_of_march_first();
  report.add_day(day, holdings);
  EXPECT_EQ(row_of(report, "ann").seen, GpuTime());
  EXPECT_EQ(row_of(report, "ann").there, card_hours(24));
  EXPECT_EQ(row_of(report, "ann").energy, static_cast<Int128>(microjoules(12'000'000)) +
                                              static_cast<Int128>(microjoules(48'000'001) / 2));

  // Telemetry that names the job on a GPU tells both.
  UsageReport placed({.by = {"user"}, .filters = {}}, kUtcPolicy, nodes, gpus);
  day.utilization.placed = {
      {WorkloadId("ann"), GpuId("GPU-2"), kMarchFirst.begin(), kMarchFirst.begin()}};
  placed.add_day(day, holdings);
  EXPECT_EQ(row_of(placed, "ann").seen, card_hours(24));
  EXPECT_EQ(row_of(placed, "ann").energy, static_cast<Int128>(microjoules(48'000'001)));
}

// What was seen of one run says nothing about where another run of the workload was.
TEST(UsageReport, ARunIsWhereItselfWasSeen) {
  const std::vector<Node> nodes = {machine("n1", 2)};
  const std::vector<Gpu> gpus = {card_of("GPU-1", "n1"), card_of("GPU-2", "n1")};
  UsageReport report({.by = {"user"}, .filters = {}}, kUtcPolicy, nodes, gpus);
  const auto run = [](const char* begin, const char* end) {
    return held_by("ann", span_of(begin, end), OnNodes{{{NodeId("n1"), 1}}});
  };
  ObservedDay day = day_of_march_first();
  day.utilization.placed = {{WorkloadId("ann"), GpuId("GPU-2"), when("2026-03-01T13:00:00Z"),
                             when("2026-03-01T15:00:00Z")}};
  report.add_day(day, std::vector<Holding>{run("2026-03-01T00:00:00Z", "2026-03-01T08:00:00Z"),
                                           run("2026-03-01T12:00:00Z", "2026-03-01T18:00:00Z")});
  EXPECT_EQ(row_of(report, "ann").there, card_hours(14));
  EXPECT_EQ(row_of(report, "ann").seen, card_hours(6));
}

TEST(UsageReport, OfDevicesWithoutHoldings) {
  const std::vector<Node> nodes = {machine("n1", 3)};
  const std::vector<Gpu> gpus = {card_of("GPU-1", "n1"), card_of("GPU-2", "n1")};
  UsageReport report({.by = {"gpu"}, .filters = {}}, kUtcPolicy, nodes, gpus);
  ASSERT_FALSE(report.is_of_holders());
  report.add_day(day_of_march_first(), {});
  EXPECT_EQ(row_of(report, "GPU-1").energy, static_cast<Int128>(microjoules(24'000'000)));
  EXPECT_EQ(row_of(report, "GPU-2").seen, card_hours(24));
  EXPECT_EQ(row_of(report, kNoValue).there, card_hours(24));  // the third GPU was never seen
  EXPECT_EQ(row_of(report, kNoValue).seen, GpuTime());
}

// A day of minutes is refused before it fills memory.
TEST(UsageReport, HasNoMoreRowsThanAskedFor) {
  const std::vector<Node> nodes = {machine("n1", 2)};
  const std::vector<Gpu> gpus = {card_of("GPU-1", "n1"), card_of("GPU-2", "n1")};
  for (const std::size_t rows_max : {std::size_t{100}, std::size_t{2 * 24 * 60}}) {
    UsageReport report(
        {.by = {"gpu"}, .filters = {}, .step = UsageStep::kMinute, .rows_max = rows_max},
        kUtcPolicy, nodes, gpus);
    report.add_day(day_of_march_first(), {});
    EXPECT_EQ(report.rows().size(), rows_max);
    EXPECT_EQ(report.has_too_many(), rows_max == 100);
  }
}

// Whoever holds what, and however often: rows of holders add up to what the GPUs took, to the
// microjoule, and hours add up to days.
RC_GTEST_PROP(UsageReportProperty, RowsAddUpToTheCards, ()) {
  const std::vector<Node> nodes = {machine("n1", 2)};
  const std::vector<Gpu> gpus = {card_of("GPU-1", "n1"), card_of("GPU-2", "n1")};
  std::vector<Holding> holdings;
  const auto count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    const auto begin = *rc::gen::inRange<std::int64_t>(-3'600'000, 86'000'000);
    const auto length = *rc::gen::inRange<std::int64_t>(1, 40'000'000);
    const Instant from = kMarchFirst.begin() + std::chrono::milliseconds(begin);
    Placement where = OnNodes{{{NodeId("n1"), *rc::gen::inRange<std::uint32_t>(1, 4)}}};
    if (*rc::gen::arbitrary<bool>()) where = OnGpus{{GpuId("GPU-1")}};
    const std::string name = "w" + std::to_string(i);
    holdings.push_back(
        held_by(name.c_str(), Interval(from, from + std::chrono::milliseconds(length)), where));
    if (*rc::gen::arbitrary<bool>()) {
      holdings.back().device =
          CardFraction{CardShare::from_units(*rc::gen::inRange<std::uint64_t>(1, 72'072'000)), {}};
    }
  }
  const auto total_of = [&](UsageStep step) {
    UsageReport report({.by = {"workload"}, .filters = {}, .step = step}, kUtcPolicy, nodes, gpus);
    report.add_day(day_of_march_first(), holdings);
    return report.total();
  };
  const UsageMeasures whole = total_of(UsageStep::kNone);
  const UsageMeasures hours = total_of(UsageStep::kHour);
  const auto taken = static_cast<Int128>(microjoules(24'000'000) + microjoules(48'000'001));
  RC_ASSERT(whole.energy == taken);
  RC_ASSERT(hours.energy == whole.energy);
  RC_ASSERT(hours.there == whole.there);
  RC_ASSERT(hours.seen == whole.seen);
  RC_ASSERT(hours.busy == whole.busy);

  // And so do those of each holder.
  const auto by_holder = [&](UsageStep step) {
    UsageReport report({.by = {"workload"}, .filters = {}, .step = step}, kUtcPolicy, nodes, gpus);
    report.add_day(day_of_march_first(), holdings);
    std::map<std::vector<std::string>, std::vector<std::string>> rows;
    std::map<std::vector<std::string>, UsageMeasures> sums;
    for (const auto& [key, measures] : report.rows()) sums[key.keys] += measures;
    for (const auto& [keys, sum] : sums) {
      for (const UInt128 number : {static_cast<UInt128>(sum.energy), sum.energy_seen.count(),
                                   sum.there.count(), sum.seen.count(), sum.busy, sum.memory}) {
        rows[keys].push_back(to_text(number));
      }
    }
    return rows;
  };
  const auto day = by_holder(UsageStep::kDay);
  RC_ASSERT(by_holder(UsageStep::kNone) == day);
  RC_ASSERT(by_holder(UsageStep::kHour) == day);
  RC_ASSERT(by_holder(UsageStep::kMinute) == day);
}

}  // namespace
}  // namespace pennyweight
