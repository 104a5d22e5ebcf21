#include "app/alerting/past_alerts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/alerting/device_usage_testing.h"

namespace pennyweight {
namespace {

using std::chrono::minutes;

// A GPU that is hot on 1 March from 10 to 11 and from 14 to 14:30.
Result<void> hot_twice(const Interval& during,
                       const std::function<void(std::span<const Usage>)>& sink) {
  const Instant day = *parse_instant("2026-03-01T00:00:00Z");
  std::vector<Usage> usages;
  for (int minute = 9 * 60; minute < 16 * 60; ++minute) {
    Usage usage = usage_of_gpu("g1", day + minutes(minute));
    usage.span_ms = 60'000;
    const bool is_hot = (minute >= 600 && minute < 660) || (minute >= 840 && minute < 870);
    usage.temperature_celsius = is_hot ? 96 : 60;
    if (usage.at >= during.begin() && usage.at < during.end()) usages.push_back(usage);
  }
  sink(usages);
  return {};
}

PastAlertsQuery of_days(const char* first, const char* last) {
  return {.first = *parse_date(first),
          .last = *parse_date(last),
          .summarise = [](const SummaryQuery&) -> Result<std::vector<SummaryRow>> {
            return std::vector<SummaryRow>();
          },
          .usage = hot_twice};
}

std::vector<std::string> told(const PastAlerts& past) {
  std::vector<std::string> texts;
  for (const Alert& one : past.told)
    texts.push_back(one.condition.rule + " " + to_text(*one.notified));
  return texts;
}

TEST(PastAlerts, CountWhatWouldHaveBeenTold) {
  Config config;
  const auto query = of_days("2026-02-28", "2026-03-02");
  const auto past = replay_alerts(query, config);
  ASSERT_TRUE(past) << past.error().message;
  EXPECT_THAT(told(*past),
              testing::ElementsAre("gpu_hot 2026-03-01T10:05:00Z", "gpu_hot 2026-03-01T14:05:00Z"));
  EXPECT_THAT(past->notes.back(), testing::HasSubstr("not replayed"));
  EXPECT_THAT(past->notes.back(), testing::HasSubstr("telemetry_missing"));
  const auto tables = past_alert_tables(*past, query);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].rows,
            (std::vector<Row>{{std::string("gpu_hot"), std::uint64_t{2}, std::uint64_t{1}}}));
  EXPECT_EQ(tables[1].rows.size(), 2u);
  // Half an hour is not long enough now, and neither is silenced.
  config.alerts.rules = {
      {.rule = "gpu_hot", .for_ms = 2'400'000, .keep_ms = {}, .is_critical = {}}};
  EXPECT_THAT(told(*replay_alerts(query, config)),
              testing::ElementsAre("gpu_hot 2026-03-01T10:45:00Z"));
  config.alerts.off = {"gpu_hot"};
  EXPECT_TRUE(replay_alerts(query, config)->told.empty());
}

TEST(PastAlerts, DaysMustBeAFew) {
  EXPECT_FALSE(replay_alerts(of_days("2026-03-02", "2026-03-01"), {}));
  EXPECT_FALSE(replay_alerts(of_days("2026-01-01", "2026-06-01"), {}));
}

}  // namespace
}  // namespace pennyweight
