#include <gtest/gtest.h>

#include "app/alerting/alert_service.h"

namespace pennyweight {
namespace {

std::string next_at(DigestPeriod digest, int hour, const char* zone, const char* now) {
  AlertConfig config;
  config.digest_hour = hour;
  ReceiverConfig receiver;
  receiver.digest = digest;
  return to_text(next_message(receiver, config, *TimeZone::parse(zone), *parse_instant(now)));
}

TEST(Digest, IsSentAtItsHourOfTheDayOrOfAMonday) {
  using enum DigestPeriod;
  const struct {
    DigestPeriod digest;
    int hour;
    const char* zone;
    const char* now;
    const char* next;
  } kCases[] = {
      {kNone, 8, "UTC", "2026-03-04T10:00:00Z", "2026-03-04T10:00:00Z"},
      {kDay, 8, "UTC", "2026-03-04T07:59:59Z", "2026-03-04T08:00:00Z"},
      {kDay, 8, "UTC", "2026-03-04T08:00:00Z", "2026-03-05T08:00:00Z"},
      {kDay, 8, "Europe/Berlin", "2026-03-04T10:00:00Z", "2026-03-05T07:00:00Z"},
      // On the 29th the hour from 2 to 3 does not exist in Berlin.
      {kDay, 2, "Europe/Berlin", "2026-03-28T23:30:00Z", "2026-03-29T01:00:00Z"},
      {kWeek, 8, "UTC", "2026-03-04T10:00:00Z", "2026-03-09T08:00:00Z"},
      {kWeek, 8, "UTC", "2026-03-09T07:00:00Z", "2026-03-09T08:00:00Z"},
      {kWeek, 0, "UTC", "2026-03-09T00:00:00Z", "2026-03-16T00:00:00Z"},
      {kWeek, 8, "Pacific/Auckland", "2026-03-08T20:00:00Z", "2026-03-15T19:00:00Z"},
  };
  for (const auto& one : kCases) {
    EXPECT_EQ(next_at(one.digest, one.hour, one.zone, one.now), one.next) << one.now << one.zone;
  }
}

TEST(Receivers, HearOfTheirOwnersAndOfTheirSeverity) {
  const AlertCondition condition{.rule = "gpu_idle", .scope = "a", .owner = "nlp"};
  ReceiverConfig receiver;
  EXPECT_TRUE(hears_of(receiver, condition));
  receiver.owners = {"vision", "nlp"};
  EXPECT_TRUE(hears_of(receiver, condition));
  receiver.owners = {"vision"};
  EXPECT_FALSE(hears_of(receiver, condition));
  receiver.owners.clear();
  receiver.is_critical_only = true;
  EXPECT_FALSE(hears_of(receiver, condition));
}

TEST(Receivers, HearOfSeveralWithOneCauseOnce) {
  const std::string incident = "price of p5 2026-03-10";
  const AlertCondition all{.rule = "cost_anomaly", .scope = incident, .incident = incident};
  const AlertCondition nlp{
      .rule = "cost_anomaly", .scope = "nlp 2026-03-10", .owner = "nlp", .incident = incident};
  ReceiverConfig everything;
  EXPECT_TRUE(hears_of(everything, all));
  EXPECT_FALSE(hears_of(everything, nlp));
  ReceiverConfig team;
  team.owners = {"nlp"};
  EXPECT_FALSE(hears_of(team, all)) << "it names other teams and what they cost";
  EXPECT_TRUE(hears_of(team, nlp));
}

}  // namespace
}  // namespace pennyweight
