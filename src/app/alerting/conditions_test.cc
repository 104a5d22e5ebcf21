#include "app/alerting/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "insight/queries/price_incident.h"

namespace pennyweight {
namespace {

using forecasting::KeptForecast;
using forecasting::MoneyRange;
using testing::HasSubstr;

Money usd(std::int64_t units) { return Money::from_units(units, kUsd); }
const Date kFirst = *parse_date("2026-03-01");

// 35 days of two owners: what has no owner costs 10 a day, and in the last week `unowned`.
DailyCostHistory owned_days(std::int64_t unowned) {
  DailyCostHistory history{.first_day = kFirst};
  history.missing.assign(35, false);
  history.parts = {{"nlp", std::vector<Money>(35, usd(90))},
                   {"(none)", std::vector<Money>(35, usd(10))}};
  for (std::size_t t = 28; t < 35; ++t) {
    history.parts[1].days[t] = usd(unowned);
    history.parts[0].days[t] = usd(100 - unowned);
  }
  return history;
}

TEST(Conditions, CoverageThatFellByPercentPoints) {
  EXPECT_TRUE(owner_conditions(owned_days(10), "team", 5).empty());
  EXPECT_TRUE(owner_conditions(owned_days(14), "team", 5).empty());
  EXPECT_TRUE(owner_conditions(owned_days(5), "team", 5).empty());
  const auto fell = owner_conditions(owned_days(15), "team", 5);
  ASSERT_EQ(fell.size(), 1u);
  EXPECT_EQ(fell[0].rule, "coverage_fell");
  EXPECT_THAT(fell[0].summary, HasSubstr("85.0 % of the costs of the last 7 days belong to a team; "
                                         "in the 28 days before it was 90.0 %"));
  DailyCostHistory unowned = owned_days(15);
  for (auto& part : unowned.parts) {
    if (part.key == "(none)") part.key = "(unowned)";
  }
  EXPECT_EQ(owner_conditions(unowned, "team", 5).size(), 1u);
  DailyCostHistory brief = owned_days(50);
  brief.missing.resize(34);
  for (auto& part : brief.parts) part.days.resize(34, usd(1));
  EXPECT_TRUE(owner_conditions(brief, "team", 5).empty());
}

TEST(Conditions, ForecastsThatMissedThreeDaysOfSeven) {
  DailyCostHistory history = owned_days(10);
  std::vector<KeptForecast> kept;
  for (int day = 28; day < 35; ++day) {
    kept.push_back({kFirst + std::chrono::days(day),
                    "team",
                    "nlp",
                    {{usd(90), {}, MoneyRange{usd(80), usd(100)}}}});
  }
  EXPECT_TRUE(missed_forecast_conditions(history, kept).empty());
  history.parts[0].days[28] = history.parts[0].days[30] = usd(101);
  EXPECT_TRUE(missed_forecast_conditions(history, kept).empty());
  history.parts[0].days[33] = usd(79);
  const auto missed = missed_forecast_conditions(history, kept);
  ASSERT_EQ(missed.size(), 1u);
  EXPECT_EQ(missed[0].subject, "nlp");
  EXPECT_THAT(missed[0].summary,
              HasSubstr("on 3 of the last 7 days: on 2026-04-03 it was 79.00 USD, and 80.00 USD to "
                        "100.00 USD were forecast the day before"));
  history.missing[33] = true;
  EXPECT_TRUE(missed_forecast_conditions(history, kept).empty());
}

FoundAnomaly unusual(std::string key, Money impact, int first, int last, std::string price_of) {
  const Money none = Money::zero(impact.currency());
  return {.key = std::move(key),
          .first = kFirst + std::chrono::days(first),
          .last = kFirst + std::chrono::days(last),
          .incident = {.first = static_cast<std::size_t>(first),
                       .last = static_cast<std::size_t>(last),
                       .actual = Money::from_units(100, impact.currency()) + impact,
                       .expected = Money::from_units(100, impact.currency())},
          .split = {none, none, none, none},
          .causes = {},
          .verdict = {},
          .sentence = "by itself",
          .price_of = std::move(price_of)};
}

TEST(Conditions, AnUnusualDayOfCentsIsNoAlert) {
  const auto left = [](std::int64_t impact, std::uint32_t permille, Currency currency = kUsd) {
    const std::vector one{unusual("nlp", Money::from_units(impact, currency), 0, 0, "")};
    // A day costs 100 in all.
    const auto least = least_anomaly(owned_days(10), permille);
    return anomaly_conditions(one, {.by = "team", .since = kFirst, .least = least}, {}).size();
  };
  EXPECT_EQ(left(1, 10), 1u) << "a hundredth";
  EXPECT_EQ(left(1, 11), 0u);
  EXPECT_EQ(left(-1, 11), 0u) << "less is as small as more";
  EXPECT_EQ(left(-20, 11), 1u);
  EXPECT_EQ(left(0, 0), 1u);
  EXPECT_EQ(left(1, 11, Currency("EUR")), 1u) << "not to be compared";
}

// "rule scope | owner | whether everybody, or the owner alone, hears of it"
std::vector<std::string> told_of(const std::vector<FoundAnomaly>& anomalies,
                                 const AnomalyLimits& limits, const AlertBook& book = {}) {
  std::vector<std::string> texts;
  for (const AlertCondition& one : anomaly_conditions(anomalies, limits, book)) {
    texts.push_back(one.scope + " | " + one.owner + " | " +
                    (one.is_in_incident() ? "owner" : "all"));
  }
  return texts;
}

// What nobody holds of dearer nodes has no GPU time, so no price of its own: it comes with the
// teams.
TEST(Conditions, WhatNobodyHeldComesWithTheIncidentThatExplainsIt) {
  std::vector<FoundAnomaly> found = {unusual("nlp", usd(50), 0, 6, "p5"),
                                     unusual("cv", usd(40), 0, 6, "p5"),
                                     unusual("(unallocated)", usd(10), 0, 6, "")};
  found[2].split.rest = usd(10);
  found[2].causes = {{"p5", usd(10), 1000}};
  const AnomalyLimits limits{.by = "team", .since = kFirst};
  EXPECT_THAT(told_of(found, limits),
              testing::ElementsAre("higher price of p5 2026-03-01 |  | all",
                                   "nlp 2026-03-01 | nlp | owner", "cv 2026-03-01 | cv | owner",
                                   "(unallocated) 2026-03-01 | (unallocated) | owner"));
  EXPECT_THAT(anomaly_conditions(found, limits, {}).front().summary, HasSubstr("+100.00 USD"));
  found[2].causes = {{"p4d", usd(10), 1000}};  // of other machines
  EXPECT_EQ(told_of(found, limits).back(), "(unallocated) 2026-03-01 | (unallocated) | all");
}

TEST(Conditions, OnePriceIsOneIncidentOfAllTeams) {
  std::vector<FoundAnomaly> teams;
  Money whole = usd(0);
  for (int i = 0; i < 30; ++i) {
    // Not a whole cent, and no two alike.
    const Money impact = Money::from_ticks(Int128{1'234'567'890'123'456'789} * (i + 1), kUsd);
    teams.push_back(unusual("team-" + std::to_string(i), impact, i % 4, 6, "p5.48xlarge"));
    whole += impact;
  }
  const auto incidents = find_price_incidents(teams);
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].impact, whole);
  const auto conditions = anomaly_conditions(teams, {.by = "team", .since = kFirst}, {});
  ASSERT_EQ(conditions.size(), 31u);
  EXPECT_EQ(std::ranges::count_if(conditions, &AlertCondition::is_in_incident), 30);
  EXPECT_TRUE(conditions[0].is_incident());
  EXPECT_EQ(conditions[0].subject, "price of p5.48xlarge");
  EXPECT_EQ(conditions[0].owner, "");
  EXPECT_THAT(conditions[0].summary,
              testing::StartsWith("Price of p5.48xlarge: +574.07 USD from 2026-03-01 to "
                                  "2026-03-07, by team: team-29 +37.04 USD, team-28 +35.80 USD, "));
  EXPECT_THAT(conditions[0].summary, testing::EndsWith(", team-0 +1.23 USD"));
  EXPECT_EQ(conditions[1].summary, "by itself");
}

TEST(Conditions, WhatHasAnotherCauseIsAnotherIncident) {
  const AnomalyLimits all{.by = "team", .since = kFirst};
  EXPECT_THAT(told_of({unusual("nlp", usd(9), 0, 1, "p5"), unusual("cv", usd(9), 0, 1, "p4d"),
                       unusual("asr", usd(9), 0, 1, ""), unusual("ops", usd(9), 0, 1, "")},
                      all),
              testing::ElementsAre("nlp 2026-03-01 | nlp | all", "cv 2026-03-01 | cv | all",
                                   "asr 2026-03-01 | asr | all", "ops 2026-03-01 | ops | all"));
  EXPECT_THAT(
      told_of({unusual("nlp", usd(9), 0, 1, "p5"), unusual("cv", usd(-9), 0, 1, "p5")}, all),
      testing::ElementsAre("nlp 2026-03-01 | nlp | all", "cv 2026-03-01 | cv | all"))
      << "a price does not rise and fall at once";
  EXPECT_THAT(told_of({unusual("nlp", usd(9), 0, 1, "p5"), unusual("cv", usd(9), 8, 9, "p5")}, all),
              testing::ElementsAre("nlp 2026-03-01 | nlp | all", "cv 2026-03-09 | cv | all"))
      << "a week later it is another change";
}

TEST(Conditions, AnIncidentGoesOnWhileOneOfItsTeamsDoes) {
  const std::vector teams{unusual("nlp", usd(9), 0, 1, "p5"), unusual("cv", usd(8), 1, 9, "p5")};
  const AnomalyLimits recent{.by = "team", .since = kFirst + std::chrono::days(7)};
  EXPECT_THAT(told_of(teams, recent), testing::ElementsAre("higher price of p5 2026-03-01 |  | all",
                                                           "cv 2026-03-02 | cv | owner"));
  EXPECT_THAT(told_of(teams, {.by = "team", .since = kFirst + std::chrono::days(10)}),
              testing::IsEmpty());
  EXPECT_THAT(told_of(teams, {.by = "team", .since = kFirst, .least = usd(5)}),
              testing::ElementsAre("higher price of p5 2026-03-01 |  | all"))
      << "a mean of 5.39 a day together is told of, where neither is by itself";
}

// What receivers are told once stays what it was: nobody is told that a team's days ended when they
// go on, or of the same again, and a team that joins later is told of to everybody.
TEST(Conditions, AnIncidentStaysWhatItWas) {
  const AnomalyLimits all{.by = "team", .since = kFirst};
  const FoundAnomaly nlp = unusual("nlp", usd(9), 0, 9, "p5"),
                     cv = unusual("cv", usd(8), 1, 9, "p5");
  const FoundAnomaly asr = unusual("asr", usd(900), 4, 9, "p5");
  const auto book_of = [&](const std::vector<FoundAnomaly>& anomalies, const AlertBook& before) {
    AlertBook book;
    for (const AlertCondition& one : anomaly_conditions(anomalies, all, before)) {
      book.emplace(std::pair(one.rule, one.scope), Alert{.condition = one});
    }
    return book;
  };
  const char* const kIncident = "higher price of p5 2026-03-01 |  | all";
  // One day later another team has the same price.
  const AlertBook alone = book_of({nlp}, {});
  EXPECT_THAT(
      told_of({nlp, cv}, all, alone),
      testing::ElementsAre(kIncident, "nlp 2026-03-01 | nlp | all", "cv 2026-03-02 | cv | owner"));
  // It goes on, as it was told of. A third team comes, whose money is more.
  const AlertBook both = book_of({nlp, cv}, {});
  EXPECT_THAT(told_of({nlp, cv, asr}, all, both),
              testing::ElementsAre(kIncident, "nlp 2026-03-01 | nlp | owner",
                                   "cv 2026-03-02 | cv | owner", "asr 2026-03-05 | asr | all"));
  // The first one ends, is expected, or has another cause: the incident keeps its name.
  EXPECT_THAT(told_of({cv}, all, both),
              testing::ElementsAre(kIncident, "cv 2026-03-02 | cv | owner"));
  FoundAnomaly other = nlp;
  other.price_of = "";
  EXPECT_THAT(told_of({other, cv}, all, both),
              testing::ElementsAre(kIncident, "nlp 2026-03-01 | nlp | owner",
                                   "cv 2026-03-02 | cv | owner"));
  FoundAnomaly last = cv;
  last.price_of = "";
  EXPECT_THAT(told_of({other, last}, all, both),
              testing::ElementsAre("nlp 2026-03-01 | nlp | owner", "cv 2026-03-02 | cv | owner",
                                   kIncident));
  // What has ended is told of anew.
  AlertBook ended = both;
  for (auto& [key, alert] : ended) alert.ended = *parse_instant("2026-03-10T00:00:00Z");
  EXPECT_THAT(told_of({cv}, all, ended), testing::ElementsAre("cv 2026-03-02 | cv | all"));
  // Another change of the same price, weeks later, is another incident.
  EXPECT_THAT(
      told_of({nlp, cv, unusual("ops", usd(9), 20, 21, "p5"), unusual("web", usd(9), 20, 21, "p5")},
              all, both),
      testing::ElementsAre(kIncident, "higher price of p5 2026-03-21 |  | all",
                           "nlp 2026-03-01 | nlp | owner", "cv 2026-03-02 | cv | owner",
                           "ops 2026-03-21 | ops | owner", "web 2026-03-21 | web | owner"));
}

TEST(Conditions, ANodeThatStandsStillHasAPrice) {
  const Instant at = *parse_instant("2026-03-01T12:00:00Z");
  LiveView view{.at = at, .clusters = {}};
  for (const char* name : {"lab", "lab/east"}) {
    LiveCosts recent{.window = Interval(at - std::chrono::minutes(5), at),
                     .shares = {},
                     .notes = {},
                     .price_per_hour = {}};
    recent.node_prices.emplace(NodeId("n1"), usd(name == std::string_view("lab") ? 32 : 9));
    view.clusters.emplace(
        ClusterId(name),
        LiveCluster{.cluster = ClusterId(name), .recent = std::move(recent), .today = {}});
  }
  const auto said = [&](std::string rule, std::string subject) {
    std::vector<AlertCondition> one{
        {.rule = std::move(rule), .scope = subject, .subject = subject, .summary = "It stands"}};
    add_node_prices(view, one);
    return one[0].summary;
  };
  EXPECT_EQ(said("gpu_xid", "lab/n1"), "It stands; an hour of the node costs 32.00 USD");
  EXPECT_EQ(said("node_missing", "lab/east/n1"), "It stands; an hour of the node costs 9.00 USD");
  EXPECT_EQ(said("gpu_xid", "lab/n2"), "It stands") << "it has no price";
  EXPECT_EQ(said("gpu_hot", "lab/n1"), "It stands") << "it works on";
}

TEST(Conditions, CheckpointsAreTheirNewest) {
  const Instant at = *parse_instant("2026-03-01T12:00:00Z");
  const auto outcome = [&](std::string measure, int minutes, std::uint64_t count) {
    return Outcome(ClusterId("lab"), WorkloadId("ml/train"), std::move(measure),
                   Interval(at, at + std::chrono::minutes(minutes)), count);
  };
  CheckpointTimes times;
  note_checkpoints(std::vector{outcome("checkpoints", 5, 1), outcome("checkpoints", 3, 1),
                               outcome("checkpoints", 9, 0), outcome("requests", 9, 1)},
                   times);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times.begin()->second, at + std::chrono::minutes(5));
}

TEST(Conditions, ALedgerThatIsOffIsToldByMonth) {
  ReconcileTotals exact{Costs::zero(kUsd), Costs::zero(kUsd)};
  ReconcileResult result;
  result.months.push_back({.month = "2026-03", .totals = {exact}, .lines = {}});
  EXPECT_TRUE(reconcile_conditions(result).empty());
  ReconcileTotals wrong = exact;
  wrong.lines_off = 2;
  wrong.transfers_off = 1;
  result.months.push_back({.month = "2026-04", .totals = {wrong}, .lines = {}});
  const auto off = reconcile_conditions(result);
  ASSERT_EQ(off.size(), 1u);
  EXPECT_EQ(off[0].scope, "2026-04");
  EXPECT_THAT(off[0].summary, HasSubstr("3 bill lines of 2026-04 are not allocated"));
}

CommitmentUse use_of(const std::string& month, std::int64_t used, std::int64_t unused,
                     std::string_view until) {
  return {"sp-1",
          month,
          usd(used),
          usd(unused),
          *parse_instant(month + "-01T00:00:00Z"),
          *parse_instant(until),
          *parse_date("2026-05-20")};
}

TEST(Conditions, CommitmentsThatAreNotUsedOrEndSoon) {
  const AlertConfig config;
  const Date today = *parse_date("2026-03-20");
  const auto rules = [&](const std::vector<CommitmentUse>& uses, Date on, const AlertConfig& with) {
    std::vector<std::string> told;
    for (const AlertCondition& one : commitment_conditions(uses, on, with)) {
      told.push_back(one.rule + " " + one.summary);
    }
    return told;
  };
  const CommitmentUse full = use_of("2026-02", 90, 10, "2026-03-01T00:00:00Z");
  EXPECT_THAT(rules({full}, today, config), testing::IsEmpty());
  // One that was bought in mid-month has no week yet, although the month has.
  CommitmentUse bought = use_of("2026-03", 1, 99, "2026-03-16T00:00:00Z");
  bought.from = *parse_instant("2026-03-13T00:00:00Z");
  EXPECT_THAT(rules({bought}, today, config), testing::IsEmpty());
  bought.until = *parse_instant("2026-03-20T00:00:00Z");
  EXPECT_THAT(rules({bought}, today, config), testing::SizeIs(1));
  // The fee of a month goes on until its end, from its first day on.
  const CommitmentUse fee = use_of("2026-03", 0, 100, "2026-04-01T00:00:00Z");
  EXPECT_THAT(rules({fee}, *parse_date("2026-03-07"), config), testing::IsEmpty());
  EXPECT_THAT(rules({fee}, *parse_date("2026-03-08"), config), testing::SizeIs(1));
  // A week of March counts in the place of February.
  const std::string fell =
      "commitment_underused 89.9 % of commitment sp-1 was used in 2026-03: 101.00 USD of 1,000.00 "
      "USD paid for nothing";
  EXPECT_THAT(rules({full, use_of("2026-03", 899, 101, "2026-03-08T00:00:00Z")}, today, config),
              testing::ElementsAre(fell));
  EXPECT_THAT(rules({full, use_of("2026-03", 899, 101, "2026-03-07T00:00:00Z")}, today, config),
              testing::IsEmpty());
  // Credits for what was used are no use.
  EXPECT_THAT(rules({use_of("2026-02", -10, 100, "2026-03-01T00:00:00Z")}, today, config),
              testing::ElementsAre(HasSubstr(" 0.0 % of commitment sp-1")));
  EXPECT_THAT(rules({full}, *parse_date("2026-03-21"), config),
              testing::ElementsAre(HasSubstr("sp-1 ends on 2026-05-20, in 60 days")));
  EXPECT_THAT(rules({full}, *parse_date("2026-05-20"), config),
              testing::ElementsAre(HasSubstr("ends on 2026-05-20, today")));
  EXPECT_THAT(rules({full}, *parse_date("2026-05-21"), config), testing::IsEmpty());
  // What people say counts in the place of the bill, and for what no bill names.
  AlertConfig stated;
  stated.commitments = {{"sp-1", *parse_date("2027-05-20")}, {"cud", *parse_date("2026-05-01")}};
  EXPECT_THAT(rules({full}, *parse_date("2026-04-30"), stated),
              testing::ElementsAre(HasSubstr("Commitment cud ends on 2026-05-01, in 1 day")));
}

TEST(Conditions, SpotNodesThatWereTakenBack) {
  const SpotUse fifth{ClusterId("lab"), 10, {NodeId("n1"), NodeId("n2")}};
  EXPECT_TRUE(spot_conditions(std::vector{fifth}, 20).empty());
  SpotUse more = fifth;
  more.nodes = 9;
  const auto told = spot_conditions(std::vector{fifth, more}, 20);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(
      told[0].summary,
      "2 of 9 spot nodes of cluster lab were taken back while work ran on them in the last 24 "
      "hours: n1, n2");
}

}  // namespace
}  // namespace pennyweight
