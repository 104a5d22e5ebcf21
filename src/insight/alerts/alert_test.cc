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
  std::string subject = scope.substr(0, scope.find(':'));
  return {.rule = "budget_spent",
          .scope = std::move(scope),
          .subject = std::move(subject),
          .owner = "ana",
          .summary = "nlp has spent 80 %"};
}

AlertCondition idle(std::string subject = "lab/7", minutes wait = minutes(60)) {
  return {
      .rule = "gpu_idle", .scope = subject, .subject = subject, .summary = "idle", .wait = wait};
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

TEST(Alerts, AConditionMayKeepItsAlertLonger) {
  AlertBook book;
  AlertCondition condition = spent();
  condition.keep = minutes(20);
  step(book, {condition}, kBegin);
  EXPECT_TRUE(step(book, {}, kBegin + minutes(19)).empty());
  EXPECT_EQ(step(book, {}, kBegin + minutes(20)).size(), 1u);
  condition.keep = minutes(0);
  step(book, {condition}, kBegin + minutes(30));
  EXPECT_EQ(step(book, {}, kBegin + minutes(30)).size(), 1u);
}

TEST(Alerts, ASilenceOfAClusterCoversItsNodesAndWorkloads) {
  const auto covers = [](std::string scope) {
    const AlertSilence silence{.rule = {}, .scope = std::move(scope), .from = {}, .to = {}};
    return is_silenced(idle("lab/7"), kDay, {&silence, 1});
  };
  EXPECT_TRUE(covers("lab"));
  EXPECT_TRUE(covers("lab/7"));
  EXPECT_TRUE(covers(""));
  EXPECT_FALSE(covers("la"));
  EXPECT_FALSE(covers("lab/"));
  EXPECT_FALSE(covers("7"));
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
  EXPECT_TRUE(step(book, {idle()}, kBegin).empty());
  EXPECT_TRUE(step(book, {idle()}, kBegin + minutes(59)).empty());
  EXPECT_EQ(step(book, {idle()}, kBegin + minutes(60)).size(), 1u);
}

TEST(Alerts, ASilenceIsOfOneSubjectAndNotOfItsNamesakes) {
  AlertBook book;
  const std::vector<AlertSilence> silences{{"", "nlp", {}, {}}};
  EXPECT_THAT(
      step(book, {spent(), spent("nlp-large: 80 %"), spent("nlp large: 80 %")}, kBegin, silences),
      testing::UnorderedElementsAre(HasSubstr("nlp-large"), HasSubstr("nlp large")));
}

TEST(Alerts, WhatCantBeKnownHasNotEnded) {
  AlertBook book;
  step(book, {idle("lab/7", minutes(0)), spent()}, kBegin);
  const std::vector<UnknownAlerts> unknown{{"gpu_idle"}, {"budget_spent", "cv"}};
  // The source of gpu_idle does not answer for an hour; the budget nlp was looked at, and is fine.
  for (int minute = 1; minute <= 60; ++minute) {
    for (const auto& told :
         step_alerts(book, {}, kBegin + minutes(minute), kDay, {}, {}, unknown)) {
      EXPECT_EQ(told.alert.condition.rule, "budget_spent");
    }
  }
  EXPECT_EQ(book.size(), 1u);
  EXPECT_EQ(step(book, {}, kBegin + minutes(70)).size(), 1u);  // it answers again: it has ended
}

TEST(Alerts, CriticalOnesAreNotKeptWaitingByAStorm) {
  AlertBook book;
  std::vector<AlertCondition> many;
  for (int i = 0; i < 250; ++i) many.push_back(spent(std::to_string(i)));
  many.push_back({.rule = "zz", .scope = "z", .severity = AlertSeverity::kCritical});
  const auto first = step_alerts(book, many, kBegin, kDay, {}, {});
  ASSERT_EQ(first.size(), 100u);
  EXPECT_EQ(first[0].alert.condition.rule, "zz");
}

TEST(Alerts, AnInhibitedOneIsNotToldOfUntilItStandsAlone) {
  AlertBook book;
  AlertCondition half = spent("nlp: 50 %");
  half.is_inhibited = true;
  EXPECT_TRUE(step(book, {half}, kBegin).empty());
  half.is_inhibited = false;
  EXPECT_EQ(step(book, {half}, kBegin + minutes(1)).size(), 1u);
}

// What was inhibited when `serve` ended does not hold because somebody looked in this millisecond.
TEST(Alerts, WhatNoConditionSaysDoesNotBegin) {
  AlertBook book;
  AlertCondition half = spent("nlp: 50 %");
  half.is_inhibited = true;
  step(book, {half}, kBegin);
  for (auto& [key, alert] : book) {
    alert.condition.is_inhibited = false;  // it is not kept
    alert.last_true = kBegin + minutes(1);
  }
  EXPECT_TRUE(step(book, {}, kBegin + minutes(1)).empty());
}

TEST(Alerts, AThresholdIsToldOfOnce) {
  AlertBook book;
  AlertCondition half = spent("nlp: 50 %");
  half.is_repeated = false;
  EXPECT_EQ(step(book, {half}, kBegin).size(), 1u);
  for (int hour = 1; hour <= 48; ++hour) {
    EXPECT_TRUE(step(book, {half}, kBegin + minutes(60 * hour)).empty());
  }
}

TEST(Alerts, TheIdOfAnOccurrenceStaysWhereverTheClockJumps) {
  AlertBook book;
  step(book, {spent()}, kBegin);
  step(book, {spent()}, kBegin - minutes(60));
  EXPECT_THAT(step(book, {}, kBegin + minutes(9)),
              testing::ElementsAre("budget_spent/nlp: 80 %/2026-03-01T00:00:00Z/resolved"));
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
  EXPECT_EQ(
      alertmanager_json(told, kBegin, minutes(4)),
      R"([{"labels": {"alertname": "Pennyweight_budget_spent", "scope": "nlp: 80 %", )"
      R"("severity": "warning", "subject": "nlp", "owner": "ana"}, "annotations": {"summary": )"
      R"("\"quoted\"\n<b>"}, "startsAt": "2026-03-01T00:00:00Z", "endsAt": )"
      R"("2026-03-01T00:04:00Z"}])");
  EXPECT_THAT(webhook_json(told[0], true), HasSubstr(R"("status": "firing", "is_retry": true)"));
  const std::vector<AlertNotification> two{told[0], told[0]};
  EXPECT_EQ(slack_json(two),
            R"({"text": "FIRING (warning): \"quoted\"\n&lt;b&gt;\nFIRING (warning): )"
            R"(\"quoted\"\n&lt;b&gt;"})");
  EXPECT_THAT(teams_json(told), HasSubstr("AdaptiveCard"));
}

}  // namespace
}  // namespace pennyweight
