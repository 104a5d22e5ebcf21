#include "telemetry/live/latency_watch.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>

#include "telemetry/latency_series.h"
#include "telemetry/live/codec.h"

namespace pennyweight::live {
namespace {

struct NoStates : StateSink {
  std::uint64_t declare(const telemetry::StateSeries&) override { return 1; }
  void sample(std::uint64_t, std::int64_t, double) override {}
  void stale(std::uint64_t, std::int64_t) override {}
};

const Instant kNow = *parse_instant("2026-03-10T08:00:00Z");

telemetry::StateSeries series(const std::string& le) {
  return {.cluster = ClusterId("prod"),
          .metric = std::string(telemetry::kLatencyBuckets),
          .labels = {
              {"service", "ml/llama"}, {"workload", "ml/llama-0"}, {"le", le}, {"component", "a"}}};
}

TEST(LatencyWatch, CountsThatNoServiceHasDoNotDamageTheSnapshot) {
  NoStates next;
  LatencyWatch watch({}, next);
  const std::uint64_t half = watch.declare(series("0.5")), all = watch.declare(series("+Inf"));
  std::int64_t at_ms = unix_ms(kNow);
  for (const double huge : {0.0, 1e308, 0.0, 1e308, 0.0, 1e308}) {
    watch.sample(half, at_ms, huge);
    watch.sample(all, at_ms, huge);
    at_ms += 1'000;
  }
  for (const double count : {10.0, 17.0}) {
    watch.sample(half, at_ms, count);
    watch.sample(all, at_ms, count);
    at_ms += 1'000;
  }
  LatencyWatch again({}, next);
  const auto loaded = again.load(watch.save());
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto readings = again.readings(from_unix_ms(at_ms));
  ASSERT_EQ(readings.size(), 1u);
  EXPECT_EQ(readings.front().requests, 17u) << "from nothing to 17";
}

TEST(LatencyWatch, ReadsASnapshotWhoseCountsAddUpToInfinity) {
  const std::int64_t slot = unix_ms(kNow) / LatencyHistory::kSlot.count();
  ByteWriter out;
  out.number(1).number(1).text("prod").text("ml/llama").text("ml/llama-0");
  out.number(1).signed_number(slot).number(2);
  for (const double value : {0.5, 7.0, 1.0, std::numeric_limits<double>::infinity()}) {
    out.number(std::bit_cast<std::uint64_t>(value));
  }
  out.number(0).number(0).text("");
  NoStates next;
  LatencyWatch watch({}, next);
  const auto loaded = watch.load(out.bytes());
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto readings = watch.readings(kNow);
  ASSERT_EQ(readings.size(), 1u);
  EXPECT_EQ(readings.front().requests, 7u);
}

}  // namespace
}  // namespace pennyweight::live
