#include "insight/queries/known_events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pennyweight {
namespace {

using forecasting::KnownEvent;

const Currency kEventsUsd = *Currency::parse("USD");
const Date kEventsFirst = *parse_date("2026-01-01");

DailyCostHistory history(const std::vector<std::string>& keys, Currency currency = kEventsUsd) {
  DailyCostHistory out{.first_day = kEventsFirst};
  out.missing.assign(30, false);
  for (const std::string& key : keys) {
    out.parts.push_back({key, std::vector<Money>(30, Money::from_units(10, currency))});
  }
  return out;
}

KnownEvent adds(std::string key, std::string by) {
  return {.name = "e",
          .from = kEventsFirst + std::chrono::days(40),
          .key = std::move(key),
          .by = std::move(by),
          .per_day = Money::from_units(5, kEventsUsd)};
}

KnownEvent leaves(std::string key, std::string by) {
  return {.name = "e",
          .from = kEventsFirst + std::chrono::days(40),
          .key = std::move(key),
          .by = std::move(by),
          .percent = 50};
}

// "the keys that it changes | those that were added | the notes"
std::string choice(const KnownEvent& event, const std::string& by,
                   const std::vector<SummaryFilter>& scope, DailyCostHistory parts) {
  const EventChoice chosen = choose_events({&event, 1}, by, scope, 30, parts);
  std::vector<std::string> keys;
  for (const KnownEvent& one : chosen.events) keys.push_back(one.key.empty() ? "*" : one.key);
  return fmt::format("{}|{}|{}", fmt::join(keys, ","), fmt::join(chosen.new_keys, ","),
                     fmt::join(chosen.notes, "; "));
}

const std::vector<SummaryFilter> kNlp = {{"team", {"nlp"}, false}};
const std::vector<SummaryFilter> kTwo = {{"team", {"nlp", "cv"}, false}};

TEST(KnownEvents, CountWhereTheyAreExact) {
  const auto teams = history({"nlp", "cv"});
  const auto whole = history({"(all)"});
  EXPECT_EQ(choice(leaves("", ""), "team", {}, teams), "*||");
  EXPECT_EQ(choice(adds("nlp", "team"), "team", {}, teams), "nlp||");
  EXPECT_EQ(choice(adds("nlp", ""), "team", {}, teams), "nlp||");
  EXPECT_EQ(choice(adds("nlp", "team"), "", {}, whole), "(all)||");
  EXPECT_EQ(choice(adds("nlp", "team"), "", kTwo, whole), "(all)||");
  EXPECT_EQ(choice(leaves("nlp", "team"), "", kNlp, whole), "*||");
  EXPECT_EQ(choice(leaves("nlp", "team"), "project", kNlp, history({"gpt"})), "*||");
}

TEST(KnownEvents, OfOthersAreNoneOfTheirs) {
  const auto whole = history({"(all)"});
  EXPECT_EQ(choice(adds("cv", "team"), "", kNlp, whole), "||");
  EXPECT_EQ(choice(adds("cv", ""), "", kNlp, whole), "||");
  EXPECT_EQ(choice(adds("nlp", "team"), "", {{"team", {"nlp"}, true}}, whole), "||");
  KnownEvent past = adds("nlp", "team");
  past.from = past.to.emplace(kEventsFirst - std::chrono::days(1));
  EXPECT_EQ(choice(past, "team", {}, history({"nlp"})), "||");
  // Whoever sees what nlp costs need not see what is known of a client, or of another team.
  EXPECT_EQ(choice(adds("rival", "client"), "", kNlp, whole), "||");
  KnownEvent foreign = adds("cv", "team");
  foreign.per_day = Money::from_units(5, Currency("EUR"));
  EXPECT_EQ(choice(foreign, "", kNlp, whole), "||");
  EXPECT_EQ(choice(foreign, "team", kNlp, history({"nlp"})), "||");
  KnownEvent later = adds("nlp", "team");
  later.from = kEventsFirst + std::chrono::days(60);
  EXPECT_EQ(choice(later, "team", {}, history({"nlp"})), "||") << "no day of it is forecast";
}

TEST(KnownEvents, AValueWithoutCostsHasAForecastOfItsOwn) {
  EXPECT_EQ(choice(adds("acme", "team"), "team", {}, history({"nlp"})), "acme|acme|");
  EXPECT_EQ(choice(adds("acme", "team"), "team", {}, history({"nlp", "(others)"})), "(others)||");
  EXPECT_EQ(choice(adds("acme", ""), "team", {}, history({"nlp"})), "||") << "perhaps a project";
  EXPECT_EQ(choice(leaves("acme", "team"), "team", {}, history({"nlp"})), "||");
}

TEST(KnownEvents, WhatIsNotExactIsNamed) {
  const auto named = [](const std::string& said, const std::string& why) {
    EXPECT_TRUE(said.starts_with("||event 'e' does not count here: ")) << said;
    EXPECT_NE(said.find(why), std::string::npos) << said;
  };
  named(choice(leaves("nlp", "team"), "", {}, history({"(all)"})), "can't be told apart");
  named(choice(leaves("nlp", "team"), "", kTwo, history({"(all)"})), "can't be told apart");
  named(choice(adds("nlp", "team"), "cluster", {}, history({"a"})), "forecasts by team have it");
  const std::vector<SummaryFilter> east = {{"team", {"nlp"}, false}, {"cluster", {"east"}, false}};
  named(choice(adds("nlp", "team"), "", east, history({"(all)"})), "a part of what team nlp costs");
  named(choice(adds("acme", "team"), "team", {{"cluster", {"a"}, false}}, history({"nlp"})),
        "is not known");
  named(choice(adds("nlp", "team"), "team", {}, history({"nlp"}, kGpuHourUnit)),
        "its amount is in USD, and this is in GPU-hours");
  named(choice(leaves("nlp", "team"), "team", {}, history({"cv", "(others)"})), "one of (others)");
}

}  // namespace
}  // namespace pennyweight
