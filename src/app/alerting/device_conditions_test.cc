#include "app/alerting/device_conditions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/alerting/device_usage_testing.h"

namespace pennyweight {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

const Instant kNow = *parse_instant("2026-03-01T12:00:00Z");

// A minute of a GPU that ended so many minutes ago.
Usage minute(std::string gpu, int ended_ago = 1, std::string node = "n1") {
  Usage usage = usage_of_gpu(std::move(gpu), kNow - minutes(ended_ago + 1), std::move(node));
  usage.span_ms = 60'000;
  return usage;
}

std::vector<std::string> found(const std::vector<Usage>& usages) {
  std::vector<std::string> rules;
  for (const auto& one : device_conditions(usages, kNow, {})) {
    rules.push_back(
        fmt::format("{} {}{}", one.rule, one.scope, one.is_inhibited ? " (inhibited)" : ""));
  }
  return rules;
}

TEST(DeviceConditions, HeatIsOfTheNewestMinuteAndOfANode) {
  Usage cool = minute("g1");
  cool.temperature_celsius = 90;
  EXPECT_TRUE(found({cool}).empty());
  Usage hot = minute("g1", 2);
  hot.temperature_celsius = 95;
  EXPECT_TRUE(found({hot, cool}).empty());  // it has cooled down
  hot = minute("g1");
  hot.temperature_celsius = 91;
  Usage other = minute("g2");
  other.temperature_celsius = 97;
  EXPECT_THAT(found({hot, other}), testing::ElementsAre("gpu_hot lab/n1"));
  const auto told = device_conditions(std::vector{hot, other}, kNow, {});
  EXPECT_THAT(told.front().summary, HasSubstr("2 GPUs (g1, g2) of node lab/n1 up to 97 °C"));
  hot = minute("g1", 6);
  hot.temperature_celsius = 95;
  EXPECT_TRUE(found({hot}).empty());  // nothing is known of now
  AlertThresholds thresholds;
  thresholds.temperature = 80;
  EXPECT_EQ(device_conditions(std::vector{cool}, kNow, thresholds).size(), 1u);
}

TEST(DeviceConditions, AReadingSaysHowHotAGpuIsNow) {
  Usage span = minute("g1", 0);
  span.temperature_celsius = 70;
  Usage reading = span;
  reading.span_ms = 0;
  reading.at = kNow - std::chrono::seconds(5);
  reading.temperature_celsius = 96;
  EXPECT_THAT(found({span, reading}), testing::ElementsAre("gpu_hot lab/n1"));
  span.temperature_celsius = 96;
  reading.temperature_celsius = 70;
  EXPECT_TRUE(found({span, reading}).empty());
  reading.temperature_celsius.reset();
  EXPECT_THAT(found({span, reading}), testing::ElementsAre("gpu_hot lab/n1"));
}

TEST(DeviceConditions, KeepsWhatTellsSomething) {
  Usage old = minute("g1", 3);
  Usage broken = minute("g1", 2);
  broken.xid_errors = 1;
  broken.last_xid = 79;
  const Usage newest = minute("g1");
  std::vector<Usage> usages{old, broken, newest, minute("g2", 2)};
  keep_telling(usages, kNow);
  EXPECT_EQ(usages, (std::vector{broken, newest, minute("g2", 2)}));
}

TEST(DeviceConditions, ThrottlingWaitsAndIsInhibitedByHeat) {
  Usage slow = minute("g1");
  slow.throttled_ms = 29'999;
  EXPECT_TRUE(found({slow}).empty());
  slow.throttled_ms = 30'000;
  EXPECT_THAT(found({slow}), testing::ElementsAre("gpu_throttled lab/n1"));
  EXPECT_EQ(device_conditions(std::vector{slow}, kNow, {}).front().wait, minutes(15));
  slow.temperature_celsius = 95;
  EXPECT_THAT(found({slow}),
              testing::ElementsAre("gpu_hot lab/n1", "gpu_throttled lab/n1 (inhibited)"));
}

TEST(DeviceConditions, FatalXidsSayWhatToDo) {
  Usage broken = minute("g1", 10);
  broken.xid_errors = 1;
  broken.last_xid = 79;
  EXPECT_THAT(found({broken}), testing::ElementsAre("gpu_xid lab/n1: XID 79"));
  EXPECT_THAT(device_conditions(std::vector{broken}, kNow, {}).front().summary,
              HasSubstr("GPU has fallen off the bus; drain and restart the machine"));
  broken.xid_errors = 0;  // the last XID is an old one
  EXPECT_TRUE(found({broken}).empty());
  broken.xid_errors = 1;
  broken.last_xid = 13;  // an application's fault
  EXPECT_TRUE(found({broken}).empty());
  broken.memory_total_bytes = 1000;
  broken.memory_used_bytes = 100;
  broken.memory_used_max_bytes = 949;
  EXPECT_TRUE(found({broken}).empty());
  broken.memory_used_max_bytes = 950;
  EXPECT_THAT(found({broken}), testing::ElementsAre("gpu_out_of_memory lab/n1"));
  EXPECT_TRUE(found({minute("g1", 20)}).empty());
}

TEST(DeviceConditions, MemoryErrorsAreOneAlertWithTheirXid) {
  Usage errors = minute("g1");
  errors.ecc_errors = 2;
  EXPECT_THAT(found({errors}), testing::ElementsAre("gpu_ecc lab/n1"));
  errors.xid_errors = 1;
  errors.last_xid = 48;
  EXPECT_THAT(found({errors}),
              testing::ElementsAre("gpu_xid lab/n1: XID 48", "gpu_ecc lab/n1 (inhibited)"));
}

TEST(DeviceConditions, AClusterThatFellSilentIsMissed) {
  LastTelemetry last;
  note_telemetry(std::vector{minute("g1", 12), minute("g1", 30)}, last);
  EXPECT_EQ(silence_conditions(last, kNow, {}).size(), 1u);
  EXPECT_EQ(silence_conditions(last, kNow - minutes(3), {}).size(), 0u);
  note_telemetry(std::vector{minute("g2", 1)}, last);
  EXPECT_TRUE(silence_conditions(last, kNow, {}).empty());
  EXPECT_TRUE(silence_conditions({}, kNow, {}).empty());
}

}  // namespace
}  // namespace pennyweight
