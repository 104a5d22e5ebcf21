#include "insight/alerts/alert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

const Instant kBegin = parse_instant("2026-03-01T00:00:00Z").value();
constexpr Date kDay = std::chrono::year(2026) / 3 / 1;

AlertCondition spent(std::string scope = "nlp: 80 %") {
  return {"budget_spent", std::move(scope),     AlertSeverity::kWarning,
          "ana",          "nlp has spent 80 %", minutes(0)};
}

std::vector<std::string> step(AlertBook& book, std::vector<AlertCondition> conditions, Instant now,
                              std::vector<AlertSilence> silences = {}) {
  std::vector<std::string> ids;
  for (const auto& one : step_alerts(book, conditions, now, kDay, silences, {})) {
    ids.push_back(one.id);
  }
  return ids;
}

TEST(Alerts, BeginGoOnAndEnd) {
  AlertBook book;
  EXPECT_THAT(step(book, {spent()}, kBegin),
              testing::ElementsAre("budget_spent/nlp: 80 %/2026-03-01T00:00:00Z/firing"));
  EXPECT_TRUE(step(book, {spent()}, kBegin + minutes(1)).empty());
  EXPECT_TRUE(step(book, {}, kBegin + minutes(2)).empty());         // hysteresis
  EXPECT_TRUE(step(book, {spent()}, kBegin + minutes(4)).empty());  // the same alert
  EXPECT_TRUE(step(book, {}, kBegin + minutes(5)).empty());
  EXPECT_THAT(step(book, {}, kBegin + minutes(9)),
              testing::ElementsAre("budget_spent/nlp: 80 %/2026-03-01T00:00:00Z/resolved"));
  EXPECT_TRUE(book.empty());
  EXPECT_EQ(step(book, {spent()}, kBegin + minutes(10)).size(), 1u);  // a new one
}

TEST(Alerts, WhatGoesOnIsRepeatedUnderAnIdOfItsOwn) {
  AlertBook book;
  step(book, {spent()}, kBegin);
  std::vector<std::string> told;
  for (int minute = 1; minute <= 480; ++minute) {
    for (auto& id : step(book, {spent()}, kBegin + minutes(minute))) told.push_back(id);
  }
  EXPECT_THAT(told, testing::ElementsAre(HasSubstr("/firing/2026-03-01T04:00:00Z"),
                                         HasSubstr("/firing/2026-03-01T08:00:00Z")));
}

TEST(Alerts, ASilenceTellsNobodyAndItsEndDoes) {
  AlertBook book;
  const std::vector<AlertSilence> silences{{"", "nlp", {}, kDay}};
  EXPECT_TRUE(step(book, {spent()}, kBegin, silences).empty());
  EXPECT_TRUE(book.begin()->second.is_silent);
  EXPECT_EQ(step(book, {spent("cv: 80 %")}, kBegin, silences).size(), 1u);
  const std::vector<AlertCondition> conditions{spent()};
  EXPECT_EQ(
      step_alerts(book, conditions, kBegin + minutes(1), kDay + std::chrono::days(1), silences, {})
          .size(),
      1u);
}

TEST(Alerts, AnAlertThatNobodyWasToldOfEndsQuietly) {
  AlertBook book;
  const std::vector<AlertSilence> silences{{"budget_spent", "", {}, {}}};
  step(book, {spent()}, kBegin, silences);
  EXPECT_TRUE(step(book, {}, kBegin + minutes(9), silences).empty());
}

TEST(Alerts, WhatMustHoldForAnHourIsToldOfAfterAnHour) {
  AlertBook book;
  AlertCondition idle{"gpu_idle", "lab/7", AlertSeverity::kWarning, "", "idle", minutes(60)};
  EXPECT_TRUE(step(book, {idle}, kBegin).empty());
  EXPECT_TRUE(step(book, {idle}, kBegin + minutes(59)).empty());
  EXPECT_EQ(step(book, {idle}, kBegin + minutes(60)).size(), 1u);
}

TEST(Alerts, AStormIsToldOfInParts) {
  AlertBook book;
  std::vector<AlertCondition> many;
  for (int i = 0; i < 250; ++i) many.push_back(spent(std::to_string(i)));
  std::size_t told = 0;
  for (int minute = 0; minute < 3; ++minute) {
    const auto part = step(book, many, kBegin + minutes(minute));
    EXPECT_LE(part.size(), 100u);
    told += part.size();
  }
  EXPECT_EQ(told, 250u);
}

TEST(Alerts, AClockThatGoesBackLosesNothing) {
  AlertBook book;
  step(book, {spent()}, kBegin);
  EXPECT_EQ(step(book, {spent()}, kBegin - minutes(60)).size(), 1u);  // told again, not lost
  EXPECT_EQ(book.size(), 1u);
  EXPECT_EQ(step(book, {}, kBegin + minutes(9)).size(), 1u);
}

TEST(Alerts, TextsOfReceivers) {
  AlertBook book;
  AlertCondition odd = spent();
  odd.summary = "\"quoted\"\n<b>";
  const std::vector<AlertCondition> conditions{odd};
  const auto told = step_alerts(book, conditions, kBegin, kDay, {}, {});
  EXPECT_EQ(alertmanager_json(told, kBegin, minutes(4)),
            R"([{"labels": {"alertname": "Pennyweight_budget_spent", "scope": "nlp: 80 %", )"
            R"("severity": "warning", "owner": "ana"}, "annotations": {"summary": )"
            R"("\"quoted\"\n<b>"}, "startsAt": "2026-03-01T00:00:00Z", "endsAt": )"
            R"("2026-03-01T00:04:00Z"}])");
  EXPECT_THAT(webhook_json(told[0], true), HasSubstr(R"("status": "firing", "is_retry": true)"));
  EXPECT_THAT(slack_json(told[0]), HasSubstr("FIRING (warning)"));
  EXPECT_THAT(teams_json(told[0]), HasSubstr("AdaptiveCard"));
}

}  // namespace
}  // namespace pennyweight
