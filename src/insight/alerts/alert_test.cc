#include "insight/alerts/alert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

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
  const AlertRound round{.conditions = conditions, .now = now, .today = kDay, .silences = silences};
  for (const auto& one : step_alerts(book, round, {})) {
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
  const AlertRound next{.conditions = conditions,
                        .now = kBegin + minutes(1),
                        .today = kDay + std::chrono::days(1),
                        .silences = silences};
  EXPECT_EQ(step_alerts(book, next, {}).size(), 1u);
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
    const AlertRound round{
        .conditions = {}, .unknown = unknown, .now = kBegin + minutes(minute), .today = kDay};
    for (const auto& told : step_alerts(book, round, {})) {
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
  const auto first = step_alerts(book, {.conditions = many, .now = kBegin, .today = kDay}, {});
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

std::string text_of(const AlertBook& book) {
  std::string text;
  for (const auto& [key, alert] : book) {
    text += alert.id() + " seen " + to_text(alert.last_true) + " told " +
            (alert.notified ? to_text(*alert.notified) : "-") + (alert.is_silent ? " silent" : "") +
            (alert.ended ? " ended" : "") + "\n";
  }
  return text;
}

// Some of a few conditions, of two rules.
std::vector<AlertCondition> draw(std::mt19937& random, bool is_idle) {
  std::vector<AlertCondition> some;
  for (int i = 0; i < 8; ++i) {
    if (random() % 3 == 0) continue;
    AlertCondition one = is_idle ? idle("lab/" + std::to_string(i), minutes(i))
                                 : spent("team" + std::to_string(i) + ": 80 %");
    one.severity = random() % 4 == 0 ? AlertSeverity::kCritical : AlertSeverity::kWarning;
    one.is_inhibited = random() % 5 == 0;
    some.push_back(std::move(one));
  }
  return some;
}

// The rules that are not evaluated in a round go on as if they had found the same again.
TEST(Alerts, ARoundOfSomeRulesIsARoundInWhichTheOthersFoundTheSame) {
  static constexpr std::string_view kSome[] = {"gpu_idle"};
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    AlertBook some;
    AlertBook whole;
    std::vector<AlertCondition> others;
    std::vector<UnknownAlerts> unknown;
    const AlertTiming timing{
        .hold = minutes(3), .repeat = minutes(20), .notifications_max = 1 + random() % 6};
    const std::vector<AlertSilence> silences{{"", "team3", {}, {}}};
    for (int minute = 0; minute < 60; ++minute) {
      const bool is_all = minute % 5 == 0;
      if (is_all) others = draw(random, false);
      if (is_all) unknown = {{"budget_spent", "team" + std::to_string(random() % 8)}};
      const std::vector<AlertCondition> now = draw(random, true);
      std::vector<AlertCondition> all = others;
      all.insert(all.end(), now.begin(), now.end());
      AlertRound round{.conditions = all,
                       .unknown = unknown,
                       .now = kBegin + minutes(minute),
                       .today = kDay,
                       .silences = silences};
      const auto told = step_alerts(whole, round, timing);
      if (!is_all) round.conditions = now;
      if (!is_all) round.unknown = {};
      if (!is_all) round.rules = kSome;
      const auto told_of_some = step_alerts(some, round, timing);
      ASSERT_EQ(text_of(some), text_of(whole)) << "seed " << seed << ", minute " << minute;
      ASSERT_EQ(told.size(), told_of_some.size()) << "seed " << seed << ", minute " << minute;
      for (std::size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i].id, told_of_some[i].id);
    }
  }
}

// What could not be kept on disk is found, and told of, as if it had never been.
TEST(Alerts, AStepThatIsUndoneWasNever) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    AlertBook book;
    const AlertTiming timing{
        .hold = minutes(3), .repeat = minutes(20), .notifications_max = 1 + random() % 6};
    for (int minute = 0; minute < 60; ++minute) {
      const bool is_lost = random() % 3 == 0;
      const std::vector<AlertCondition> found = draw(random, false);
      const AlertRound round{.conditions = found, .now = kBegin + minutes(minute), .today = kDay};
      AlertChanges changes;
      const AlertBook before = book;
      step_alerts(book, round, timing, &changes);
      if (!is_lost) continue;
      undo(book, changes);
      ASSERT_EQ(book.size(), before.size()) << "seed " << seed << ", minute " << minute;
      for (const auto& [key, alert] : before) {
        const auto place = book.find(key);
        ASSERT_NE(place, book.end()) << "seed " << seed << ", minute " << minute;
        EXPECT_EQ(place->second.id(), alert.id());
        EXPECT_EQ(place->second.notified, alert.notified);
        EXPECT_EQ(place->second.ended, alert.ended);
      }
    }
  }
}

TEST(Alerts, TextsOfReceivers) {
  AlertBook book;
  AlertCondition odd = spent();
  odd.summary = "\"quoted\"\n<b>";
  const std::vector<AlertCondition> conditions{odd};
  const auto told = step_alerts(book, {.conditions = conditions, .now = kBegin, .today = kDay}, {});
  EXPECT_EQ(
      alertmanager_json(told, kBegin, minutes(4)),
      R"([{"labels": {"alertname": "Pennyweight_budget_spent", "scope": "nlp: 80 %", )"
      R"("severity": "warning", "subject": "nlp", "owner": "ana"}, "annotations": {"summary": )"
      R"("\"quoted\"\n<b>"}, "startsAt": "2026-03-01T00:00:00Z", "endsAt": )"
      R"("2026-03-01T00:04:00Z"}])");
  EXPECT_THAT(webhook_json(told[0], true), HasSubstr(R"("status": "firing", "is_retry": true)"));
  const std::vector<AlertNotification> two{told[0], told[0]};
  EXPECT_EQ(slack_json(two),
            R"({"text": "FIRING (warning): \"quoted\" &lt;b&gt;\nFIRING (warning): )"
            R"(\"quoted\" &lt;b&gt;", "unfurl_links": false, "unfurl_media": false})");
  EXPECT_THAT(teams_json(told), HasSubstr("AdaptiveCard"));
}

}  // namespace
}  // namespace pennyweight
