#include "telemetry/live/accumulator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace pennyweight::live {
namespace {

constexpr Timing kTiming{};
constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max() / 4;

std::vector<AggregatePiece> all_of(const Accumulator& accumulator) {
  std::vector<AggregatePiece> pieces;
  accumulator.copy_all(pieces);
  return pieces;
}
UInt128 sum_of(const std::vector<AggregatePiece>& pieces) {
  UInt128 sum = 0;
  for (const AggregatePiece& piece : pieces) sum += piece.sum;
  return sum;
}
std::int64_t length_of(const std::vector<AggregatePiece>& pieces) {
  std::int64_t length = 0;
  for (const AggregatePiece& piece : pieces) length += piece.to - piece.from;
  return length;
}

TEST(Accumulator, AValueHoldsUntilTheNextSample) {
  Accumulator mean(Aggregation::kMean);
  mean.add_sample(10'000, 100, kTiming);
  mean.add_sample(40'000, 300, kTiming);
  mean.add_sample(70'000, 0, kTiming);
  const auto pieces = all_of(mean);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].from, 10'000);
  EXPECT_EQ(pieces[0].to, kMinute);
  EXPECT_EQ(pieces[0].sum, UInt128{100 * 30'000 + 300 * 20'000});
  EXPECT_EQ(pieces[0].max, 300u);
  EXPECT_EQ(pieces[1].sum, UInt128{300 * 10'000});
}

TEST(Accumulator, NoLongerThanTwoAndAHalfIntervals) {
  Accumulator mean(Aggregation::kMean);
  mean.add_sample(0, 1, kTiming);
  mean.add_sample(30'000, 1, kTiming);
  mean.add_sample(60'000, 1, kTiming);
  mean.add_sample(1'000'000, 1, kTiming);  // an outage: unobserved, not zero
  EXPECT_EQ(length_of(all_of(mean)), 60'000 + 75'000);
}

TEST(Accumulator, LearnsTheInterval) {
  Accumulator slow(Aggregation::kMean);
  for (std::int64_t i = 0; i < 6; ++i) slow.add_sample(i * 240'000, 1, kTiming);
  EXPECT_EQ(slow.interval_ms(kTiming), 240'000);
  Accumulator fast(Aggregation::kMean);
  for (std::int64_t i = 0; i < 6; ++i) fast.add_sample(i * 5'000, 1, kTiming);
  EXPECT_EQ(fast.interval_ms(kTiming), 5'000);
  EXPECT_EQ(fast.hold_end(kTiming), 25'000 + 12'500);
}

TEST(Accumulator, ASampleThatIsNotNewerIsADuplicate) {
  Accumulator mean(Aggregation::kMean);
  EXPECT_EQ(mean.add_sample(30'000, 5, kTiming), SampleResult::kNew);
  EXPECT_EQ(mean.add_sample(30'000, 7, kTiming), SampleResult::kDuplicate);
  EXPECT_EQ(mean.add_sample(10'000, 7, kTiming), SampleResult::kDuplicate);
  mean.add_sample(40'000, 0, kTiming);
  EXPECT_EQ(sum_of(all_of(mean)), UInt128{50'000});
}

TEST(Accumulator, AStaleMarkerEndsIt) {
  Accumulator mean(Aggregation::kMean);
  mean.add_sample(0, 5, kTiming);
  mean.end(10'000, kTiming);
  mean.add_sample(50'000, 5, kTiming);
  EXPECT_EQ(length_of(all_of(mean)), 10'000);
}

TEST(Accumulator, AnIncreaseIsSpreadAndAddsUp) {
  Accumulator energy(Aggregation::kCounter);
  energy.add_sample(50'000, 1'000, kTiming);
  energy.add_sample(80'000, 1'100, kTiming);  // 10 s before the edge and 20 s after it
  const auto pieces = all_of(energy);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].sum, UInt128{33});
  EXPECT_EQ(pieces[1].sum, UInt128{67});
}

TEST(Accumulator, AResetIsTheValueSince) {
  Accumulator energy(Aggregation::kCounter);
  energy.add_sample(0, 1'000, kTiming);
  energy.add_sample(10'000, 1'100, kTiming);
  EXPECT_EQ(energy.add_sample(20'000, 40, kTiming), SampleResult::kReset);
  EXPECT_EQ(sum_of(all_of(energy)), UInt128{140});
}

TEST(Accumulator, ACounterIsNotObservedOverALongGap) {
  Accumulator energy(Aggregation::kCounter);
  energy.add_sample(0, 1'000, kTiming);
  energy.add_sample(kBridgeMsMax, 1'100, kTiming);
  EXPECT_EQ(sum_of(all_of(energy)), UInt128{100});
  // It may have been reset meanwhile.
  EXPECT_EQ(energy.add_sample(3 * kBridgeMsMax + 200'000, 9'000, kTiming), SampleResult::kGap);
  energy.add_sample(3 * kBridgeMsMax + 230'000, 9'010, kTiming);
  EXPECT_EQ(sum_of(all_of(energy)), UInt128{110});
  EXPECT_EQ(length_of(all_of(energy)), kBridgeMsMax + 30'000);
  EXPECT_EQ(all_of(energy).back().from, 3 * kBridgeMsMax + 200'000);
}

TEST(Accumulator, ALongGapOfATotalIsToldByTheHour) {
  Accumulator energy(Aggregation::kTotal);
  energy.add_sample(30'000, 0, kTiming);
  energy.add_sample(30'000 + 5 * kFineGapMs, 1'000'003, kTiming);
  EXPECT_EQ(all_of(energy).size(), 6u);
  EXPECT_EQ(sum_of(all_of(energy)), UInt128{1'000'003});
  EXPECT_EQ(energy.add_sample(kCounterGapMsMax * 2, 9'000'000, kTiming), SampleResult::kGap);
  EXPECT_EQ(sum_of(all_of(energy)), UInt128{1'000'003});
}

TEST(Accumulator, AStickyCodeCountsWhereItChanges) {
  Accumulator xid(Aggregation::kChange);
  xid.add_sample(0, 31, kTiming);  // from before we looked
  xid.add_sample(30'000, 31, kTiming);
  xid.add_sample(60'000, 79, kTiming);
  xid.add_sample(90'000, 0, kTiming);  // the driver was loaded again
  xid.add_sample(120'000, 79, kTiming);
  const auto pieces = all_of(xid);
  EXPECT_EQ(sum_of(pieces), UInt128{2});
  EXPECT_EQ(pieces.at(0).last, 79u);  // it happened before it was seen
}

TEST(Accumulator, ACodeThatChangesAfterAGapIsNotLost) {
  Accumulator xid(Aggregation::kChange);
  xid.add_sample(0, 0, kTiming);
  xid.add_sample(30'000, 0, kTiming);
  xid.add_sample(3'000'000, 79, kTiming);
  EXPECT_EQ(sum_of(all_of(xid)), UInt128{1});
}

TEST(Accumulator, AWindowCountsWhatItGrowsBy) {
  Accumulator window(Aggregation::kGrowth);
  for (const std::uint64_t value : {0u, 2u, 3u, 0u, 1u}) {
    window.add_sample(window.has_sample() ? window.last_at() + 30'000 : 0, value, kTiming);
  }
  EXPECT_EQ(sum_of(all_of(window)), UInt128{4});
}

TEST(Accumulator, WhatWasSettledIsNotAccountedAgain) {
  Accumulator mean(Aggregation::kMean);
  mean.add_sample(0, 10, kTiming);
  mean.hold_until(60'000, kTiming);  // nothing came
  std::vector<AggregatePiece> first;
  mean.take_finished(60'000, first);
  EXPECT_EQ(length_of(first), 60'000);
  mean.add_sample(30'000, 20, kTiming);  // it comes late
  mean.add_sample(90'000, 20, kTiming);
  const auto later = all_of(mean);
  EXPECT_EQ(length_of(later), 30'000);
  EXPECT_EQ(later.at(0).from, 60'000);
}

// Samples in any order, with repetitions, markers, early holds and flushes between, and saved and
// loaded at any time: no millisecond twice, pieces within their buckets, and the sums to the last
// unit.
RC_GTEST_PROP(AccumulatorProperty, AddsUp, (std::vector<std::uint32_t> steps)) {
  for (const Aggregation aggregation :
       {Aggregation::kMean, Aggregation::kCounter, Aggregation::kTotal}) {
    Accumulator accumulator(aggregation);
    std::vector<AggregatePiece> pieces;
    UInt128 expected = 0;
    std::int64_t observed = 0;
    std::int64_t now = 1'000'000;
    for (const std::uint32_t step : steps) {
      const std::int64_t settled = std::max(accumulator.settled_until(), accumulator.last_at());
      const std::int64_t hold_end = accumulator.hold_end(kTiming);
      const std::uint64_t value = step % 1'000;
      const auto goes_on_to = [&](std::int64_t to) {
        if (aggregation != Aggregation::kMean || !accumulator.holds()) return;
        const std::int64_t length = std::min(to, hold_end) - settled;
        if (length <= 0) return;
        observed += length;
        expected += UInt128{accumulator.last_value()} * static_cast<std::uint64_t>(length);
      };
      switch (step % 7) {
        case 0:
          accumulator.take_finished(now - step % 100'000, pieces);
          break;
        case 1:
          goes_on_to(now + 20'000);
          accumulator.hold_until(now + 20'000, kTiming);
          break;
        case 2: {
          ByteWriter writer;
          accumulator.save(writer);
          Accumulator other(aggregation);
          ByteReader reader(writer.bytes());
          RC_ASSERT(other.load(reader) && reader.at_end());
          accumulator = other;
          break;
        }
        case 3:
          if (now > accumulator.last_at() && accumulator.has_sample()) goes_on_to(now);
          accumulator.end(now, kTiming);
          break;
        default: {
          now += static_cast<std::int64_t>(step % 90'000) - 10'000;
          if (now > accumulator.last_at() && accumulator.has_sample()) {
            goes_on_to(now);
            const bool is_bridge = aggregation == Aggregation::kCounter && now > hold_end &&
                                   now - accumulator.last_at() > kBridgeMsMax;
            if (aggregation != Aggregation::kMean && !is_bridge) {
              const std::uint64_t last = accumulator.last_value();
              expected += value < last ? value : value - last;
              observed += now - accumulator.last_at();
            }
          }
          accumulator.add_sample(now, value, kTiming);
        }
      }
    }
    accumulator.take_finished(kAll, pieces);
    RC_ASSERT(accumulator.empty());
    RC_ASSERT(sum_of(pieces) == expected);
    RC_ASSERT(length_of(pieces) == observed);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      RC_ASSERT(pieces[i].from < pieces[i].to);
      RC_ASSERT(pieces[i].from / kMinute == (pieces[i].to - 1) / kMinute);
      // RC_ASSERT evaluates both sides of a ||.
      if (i > 0) RC_ASSERT(pieces[i - 1].to <= pieces[i].from);
    }
  }
}

}  // namespace
}  // namespace pennyweight::live
