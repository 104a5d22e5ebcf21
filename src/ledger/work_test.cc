#include "ledger/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using testing::ElementsAre;
using testing::IsEmpty;

Instant instant_of(const char* text) { return *parse_instant(text); }
Invalidation on(const char* cluster, const char* day) {
  return {InvalidationKind::kDay, ClusterId(cluster), std::chrono::floor<days>(instant_of(day))};
}

RC_GTEST_PROP(DaySet, HoldsTheDaysOfItsRanges, ()) {
  const auto ranges = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 1000), rc::gen::inRange(0, 200)));
  DaySet set;
  std::set<sys_days> wanted;
  for (const auto& [first, more] : ranges) {
    set.add(sys_days(days(first)), sys_days(days(first + more)));
    for (int day = first; day <= first + more; ++day) wanted.insert(sys_days(days(day)));
  }
  RC_ASSERT(set.days() == std::vector<sys_days>(wanted.begin(), wanted.end()));
}

TEST(DaySet, WhatNoCalendarHasIsTheNearestDayThatOneHas) {
  DaySet set;
  set.add(sys_days(days(-5)), sys_days(days(0)));
  set.add(sys_days(days(1'000'000)), sys_days(days(2'000'000)));
  EXPECT_THAT(set.days(), ElementsAre(sys_days(), std::chrono::floor<days>(kInstantMax)));
}

TEST(InvalidationCollector, AKindWithoutNewFactsInvalidatesNothing) {
  InvalidationCollector invalidations;
  invalidations.add(Holding(
      ClusterId("a"), WorkloadId("1"),
      Interval(instant_of("2026-03-01T23:59:59.999Z"), instant_of("2026-03-03")), OnGpus{}));
  invalidations.add(Outage(ClusterId("b"), NodeId("n"),
                           Interval(instant_of("2026-03-09"), instant_of("2026-03-09T00:00:01Z"))));
  EXPECT_THAT(invalidations.invalidations({}), IsEmpty());
  EXPECT_THAT(
      invalidations.invalidations(
          {.holdings = 1, .nodes = 0, .gpus = 0, .usages = 0, .outages = 0, .corrections = 0}),
      ElementsAre(on("a", "2026-03-01"), on("a", "2026-03-02")));
  EXPECT_THAT(
      invalidations.invalidations(
          {.holdings = 0, .nodes = 5, .gpus = 5, .usages = 5, .outages = 1, .corrections = 5}),
      ElementsAre(on("b", "2026-03-09")));
}

TEST(InvalidationKind, EveryKindReadsBack) {
  for (const InvalidationKind touch : {InvalidationKind::kCharges, InvalidationKind::kFleet,
                                       InvalidationKind::kDay, InvalidationKind::kCorrections}) {
    EXPECT_EQ(parse_invalidation_kind(to_text(touch)), touch);
  }
  EXPECT_EQ(parse_invalidation_kind("nothing"), std::nullopt);
}

}  // namespace
}  // namespace pennyweight
