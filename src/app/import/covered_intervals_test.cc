// What a backfill may add to what the ledger already has.
#include "app/import/covered_intervals.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace pennyweight {
namespace {

const Interval kAll(from_unix_ms(0), from_unix_ms(1'000'000'000));

Usage span(std::int64_t from_ms, std::int64_t to_ms, const std::string& workload = "") {
  return {.cluster = ClusterId("c"),
          .node = NodeId("n"),
          .gpu = GpuId("GPU-1"),
          .mig_instance = {},
          .mig_profile = {},
          .model = {},
          .at = from_unix_ms(from_ms),
          .gpu_util_ppm = {},
          .engine_active_ppm = {},
          .sm_active_ppm = {},
          .memory_used_bytes = {},
          .memory_total_bytes = {},
          .power_milliwatts = {},
          .energy_millijoules = {},
          .workload = WorkloadId(workload),
          .span_ms = static_cast<std::uint32_t>(to_ms - from_ms),
          .id = {},
          .source = {}};
}

Usage full(std::int64_t from_ms, std::int64_t to_ms) {
  Usage usage = span(from_ms, to_ms);
  usage.gpu_util_ppm = 500'000;
  usage.power_milliwatts = 300;
  usage.power_max_milliwatts = 400;
  usage.energy_used_millijoules = 100;
  return usage;
}

std::vector<Usage> rest(const CoveredIntervals& known, const Usage& row, bool* was_known = nullptr,
                        const Interval& window = kAll) {
  std::vector<Usage> rest;
  const bool is_cut = known.cut(row, window, rest);
  if (was_known != nullptr) *was_known = is_cut;
  return rest;
}

TEST(CoveredIntervals, NothingKnownLeavesARowAsItIs) {
  bool was_known = true;
  EXPECT_EQ(rest({}, full(0, 60'000), &was_known), std::vector{full(0, 60'000)});
  EXPECT_FALSE(was_known);
}

TEST(CoveredIntervals, WhatIsThereIsNotAddedAgain) {
  CoveredIntervals known;
  known.add(full(0, 60'000));
  bool was_known = false;
  EXPECT_TRUE(rest(known, full(0, 60'000), &was_known).empty());
  EXPECT_TRUE(was_known);
  EXPECT_EQ(rest(known, full(60'000, 120'000)), std::vector{full(60'000, 120'000)});
}

TEST(CoveredIntervals, OtherDevicesInstancesAndWorkloadsAreNotThese) {
  CoveredIntervals known;
  known.add(full(0, 60'000));
  Usage gpu = full(0, 60'000);
  gpu.gpu = GpuId("GPU-2");
  Usage instance = full(0, 60'000);
  instance.mig_instance = "7";
  Usage workload = full(0, 60'000);
  workload.workload = WorkloadId("ns/pod");
  Usage own = full(0, 60'000);
  own.of_workload = true;
  for (const Usage& row : {gpu, instance, workload, own}) {
    EXPECT_EQ(rest(known, row), std::vector{row});
  }
}

TEST(CoveredIntervals, ColumnsAreCutOneByOne) {
  CoveredIntervals known;
  Usage there = span(0, 60'000);
  there.gpu_util_ppm = 1;
  there.power_milliwatts = 2;
  known.add(there);
  Usage expected = span(0, 60'000);
  expected.energy_used_millijoules = 100;
  bool was_known = false;
  EXPECT_EQ(rest(known, full(0, 60'000), &was_known), std::vector{expected});
  EXPECT_TRUE(was_known);
}

// `serve` was started 37 s into a minute.
TEST(CoveredIntervals, TheBeginOfARowStaysAndHasItsShare) {
  CoveredIntervals known;
  known.add(full(37'000, 60'000));
  Usage expected = full(0, 37'000);
  expected.energy_used_millijoules = 61;  // 100 × 37 / 60, down
  EXPECT_EQ(rest(known, full(0, 60'000)), std::vector{expected});
}

TEST(CoveredIntervals, ARowInTheMiddleLeavesTwoPieces) {
  CoveredIntervals known;
  known.add(full(20'000, 40'000));
  const auto pieces = rest(known, full(0, 60'000));
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].at, from_unix_ms(0));
  EXPECT_EQ(pieces[0].span_ms, 20'000u);
  EXPECT_EQ(pieces[0].energy_used_millijoules, 33u);
  EXPECT_EQ(pieces[1].at, from_unix_ms(40'000));
  EXPECT_EQ(pieces[1].span_ms, 20'000u);
  EXPECT_EQ(pieces[1].energy_used_millijoules, 34u);
}

TEST(CoveredIntervals, ReadingsCoverNoTime) {
  CoveredIntervals known;
  Usage reading = full(0, 60'000);
  reading.span_ms = 0;
  known.add(reading);
  EXPECT_EQ(rest(known, full(0, 60'000)), std::vector{full(0, 60'000)});
}

TEST(CoveredIntervals, OutsideTheWindowNothingIsKept) {
  bool was_known = true;
  const Interval window(from_unix_ms(30'000), from_unix_ms(60'000));
  Usage expected = full(30'000, 60'000);
  expected.energy_used_millijoules = 50;
  EXPECT_EQ(rest({}, full(0, 60'000), &was_known, window), std::vector{expected});
  EXPECT_FALSE(was_known) << "nobody knew it, it was not asked for";
  EXPECT_TRUE(rest({}, full(60'000, 90'000), &was_known, window).empty());
}

Outcome outcome(std::int64_t from_ms, std::int64_t to_ms, std::uint64_t count,
                const std::string& model = "m") {
  Outcome made(ClusterId("c"), WorkloadId("ns/pod"), std::string(kRequests),
               Interval(from_unix_ms(from_ms), from_unix_ms(to_ms)), count);
  EXPECT_TRUE(made.labels.set("model", model));
  return made;
}

TEST(CoveredIntervals, Outcomes) {
  CoveredIntervals known;
  known.add(outcome(30'000, 60'000, 7));
  std::vector<Outcome> rest;
  EXPECT_TRUE(known.cut(outcome(0, 60'000, 9), kAll, rest));
  EXPECT_EQ(rest, std::vector{outcome(0, 30'000, 4)});
  rest.clear();
  EXPECT_FALSE(known.cut(outcome(0, 60'000, 9, "other"), kAll, rest));
  EXPECT_EQ(rest, std::vector{outcome(0, 60'000, 9, "other")});
}

// Any spans in the ledger and any row: no millisecond of a column is in both, none is lost, and the
// pieces of a sum come to no more than their share of it.
RC_GTEST_PROP(CoveredIntervals, NoMillisecondTwiceAndNoneLost, ()) {
  const auto count = *rc::gen::inRange(0, 6);
  CoveredIntervals known;
  std::vector<Usage> there;
  for (int i = 0; i < count; ++i) {
    const std::int64_t from = *rc::gen::inRange(0, 40);
    Usage usage = span(from, from + *rc::gen::inRange(1, 20));
    if (*rc::gen::arbitrary<bool>()) usage.gpu_util_ppm = 1;
    if (*rc::gen::arbitrary<bool>()) usage.energy_used_millijoules = 1;
    there.push_back(usage);
  }
  std::ranges::sort(there, {}, &Usage::at);
  for (const Usage& usage : there) known.add(usage);
  Usage row = span(10, 30);
  row.gpu_util_ppm = 5;
  const auto energy = static_cast<std::uint64_t>(*rc::gen::inRange(0, 1000));
  row.energy_used_millijoules = energy;
  const auto pieces = rest(known, row);

  const auto covers = [](const Usage& usage, std::int64_t at) {
    return unix_ms(usage.at) <= at && at < unix_ms(usage.at) + usage.span_ms;
  };
  std::uint64_t sum = 0;
  std::uint64_t free_ms = 0;
  for (const Usage& piece : pieces) sum += piece.energy_used_millijoules.value_or(0);
  for (const auto column : {&Usage::gpu_util_ppm, &Usage::energy_used_millijoules}) {
    for (std::int64_t at = 10; at < 30; ++at) {
      const bool is_there = std::ranges::any_of(
          there, [&](const Usage& usage) { return usage.*column && covers(usage, at); });
      const auto here = std::ranges::count_if(
          pieces, [&](const Usage& piece) { return piece.*column && covers(piece, at); });
      RC_ASSERT(here == (is_there ? 0 : 1));
      if (column == &Usage::energy_used_millijoules && !is_there) ++free_ms;
    }
  }
  RC_ASSERT(sum <= energy);
  if (free_ms == 20) RC_ASSERT(sum == energy);
  if (free_ms == 0) RC_ASSERT(sum == 0u);
}

}  // namespace
}  // namespace pennyweight
