#include "app/alerting/limit_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/guardrail_config.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;

const Instant kNoticed = *parse_instant("2026-03-04T08:00:00Z");

guardrails::StopNotice noticed_limit() {
  return {.limit = "nlp",
          .is_of_money = true,
          .because = "100.00 USD of 100.00 USD are spent this month",
          .month = *parse_instant("2026-03-01T00:00:00Z"),
          .month_end = *parse_instant("2026-04-01T00:00:00Z"),
          .since = kNoticed,
          .seen = kNoticed};
}

ReceiverConfig receiver_of(std::vector<std::string> owners) {
  ReceiverConfig receiver;
  receiver.name = "leads";
  receiver.owners = std::move(owners);
  return receiver;
}

Config config_with_stops() {
  Config config;
  GuardrailConfig guardrails;
  guardrails.limits = {guardrails::UsageLimit{
      .name = "nlp", .stop_running = guardrails::StopTerms{.grace_ms = 3'600'000}}};
  config.guardrails = std::make_shared<const GuardrailConfig>(std::move(guardrails));
  config.alerts.receivers = {receiver_of({"nlp"})};
  return config;
}

LimitStops stops_of(StopStage stage, int count) {
  LimitStops stops;
  for (int i = 0; i < count; ++i) {
    stops.stops.push_back({.limit = "nlp",
                           .stage = stage,
                           .cluster = "lab",
                           .workload = std::to_string(i),
                           .gpu_milli = 2000});
  }
  return stops;
}

TEST(LimitConditions, AnOwnerHearsOfTheGraceAndThenOfItsEnd) {
  const guardrails::StopState state{.notices = {{"nlp", noticed_limit()}}};
  auto found =
      limit_conditions(state, stops_of(StopStage::kAnnounced, 10), config_with_stops(), kNoticed);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, guardrails::kStopNoticeRule);
  EXPECT_EQ(found[0].owner, "nlp");
  EXPECT_EQ(found[0].severity, AlertSeverity::kCritical);
  EXPECT_FALSE(found[0].is_repeated);
  EXPECT_THAT(found[0].summary, HasSubstr("not before 2026-03-04T09:00:00Z: 10 workloads with 20 "
                                          "GPUs: lab/0, lab/1, lab/2"));
  EXPECT_THAT(found[0].summary, HasSubstr("and 2 more"));
  found = limit_conditions(state, stops_of(StopStage::kDue, 1), config_with_stops(), kNoticed);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].rule, "limit_stop_due");
  EXPECT_THAT(found[1].summary, HasSubstr("1 workload with 2 GPUs: lab/0 may be stopped"));
  found = limit_conditions(state, stops_of(StopStage::kExempt, 1), config_with_stops(), kNoticed);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].summary, HasSubstr("nothing that is known runs now"));
  EXPECT_TRUE(limit_conditions(state, stops_of(StopStage::kDue, 1), config_with_stops(),
                               noticed_limit().month_end)
                  .empty());
  EXPECT_TRUE(limit_conditions({}, {}, config_with_stops(), kNoticed).empty());
}

TEST(LimitConditions, SomebodyIsToldWhenAReceiverAcceptedTheMessage) {
  const Config config = config_with_stops();
  const guardrails::StopState state{.notices = {{"nlp", noticed_limit()}}};
  Alert alert{.condition = limit_conditions(state, {}, config, kNoticed)[0]};
  alert.notified = kNoticed;
  AlertsNow now;
  now.is_evaluated = true;
  now.alerts = {alert};
  now.receivers = {{.name = "leads"}};
  // It was made, and nothing fails: it may wait, be given up, or never have been sent.
  EXPECT_TRUE(told_stop_notices(now, config.alerts).empty());
  const Instant late = kNoticed + std::chrono::hours(23);
  now.alerts[0].delivered = {{"leads", late}, {"another", kNoticed}};
  now.receivers[0].problem = "it does not answer";  // to something later
  const std::string scope = noticed_limit().scope();
  EXPECT_EQ(told_stop_notices(now, config.alerts).at(scope), late);
  // A receiver that was configured later heard nothing of it.
  AlertConfig renamed = config.alerts;
  renamed.receivers[0].name = "new";
  EXPECT_TRUE(told_stop_notices(now, renamed).empty());
  AlertConfig both = config.alerts;
  both.receivers.push_back(both.receivers[0]);
  both.receivers[1].name = "another";
  EXPECT_EQ(told_stop_notices(now, both).at(scope), kNoticed);
  ReceiverConfig daily = receiver_of({});
  daily.digest = DigestPeriod::kDay;
  ReceiverConfig later = receiver_of({});
  later.after_ms = 1;
  ReceiverConfig in_hours = receiver_of({});
  in_hours.is_in_hours = true;
  for (const ReceiverConfig& other : {daily, later, in_hours, receiver_of({"cv"})}) {
    AlertConfig alerts = config.alerts;
    alerts.receivers = {other};
    EXPECT_TRUE(told_stop_notices(now, alerts).empty());
  }
}

}  // namespace
}  // namespace pennyweight
