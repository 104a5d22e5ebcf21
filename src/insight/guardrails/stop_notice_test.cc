#include "insight/guardrails/stop_notice.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace pennyweight::guardrails {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const Instant kStopMonth = from_unix_seconds(1'772'323'200);  // 2026-03-01
const hours kStopMonthLength{24 * 31};
const Instant kStopNoon = kStopMonth + hours(12);

Money stop_usd(std::int64_t units) { return Money::from_units(units, kUsd); }

LimitUse spent_of_limit(std::optional<std::int64_t> spent) {
  return {.limit = {.name = "nlp",
                    .per_month = stop_usd(100),
                    .stop_running = StopTerms{.grace_ms = 3'600'000}},
          .spent = spent ? std::optional(stop_usd(*spent)) : std::nullopt,
          .problem = spent ? "" : "the ledger is away"};
}

// A serve that looks once a minute, and tells the owner at once.
struct StopSimulation {
  Instant now = kStopNoon;
  Instant month = kStopMonth;
  StopState state = {};
  std::size_t begun = 0;
  std::size_t withdrawn = 0;
  bool tells = true;

  void look(const LimitUse& use) {
    const StopChanges changes =
        step_stop_notices(state, std::vector{use}, Interval(month, month + kStopMonthLength), now);
    begun += changes.begun.size();
    withdrawn += changes.withdrawn.size();
    for (const StopNotice& notice : changes.begun) {
      if (tells) state.told.emplace(notice.scope(), now);
    }
  }
  void look_each_minute(const LimitUse& use, int times) {
    for (int i = 0; i < times; ++i) {
      now += minutes(1);
      look(use);
    }
  }
  bool is_due(const LimitUse& use) const {
    const auto notice = state.notices.find("nlp");
    return notice != state.notices.end() &&
           is_grace_over(notice->second, *use.limit.stop_running, state, now);
  }
};

TEST(StopNotice, WorkIsDueAfterTheGraceAndNotBefore) {
  StopSimulation serve;
  const LimitUse use = spent_of_limit(100);
  serve.look(use);
  EXPECT_EQ(serve.begun, 1U);
  EXPECT_EQ(serve.state.notices.at("nlp").because, "100.00 USD of 100.00 USD are spent this month");
  EXPECT_EQ(
      stops_from(serve.state.notices.at("nlp"), *use.limit.stop_running, serve.state, serve.now),
      kStopNoon + hours(1));
  serve.look_each_minute(use, 59);
  EXPECT_FALSE(serve.is_due(use));
  serve.look_each_minute(use, 1);
  EXPECT_TRUE(serve.is_due(use));
  EXPECT_EQ(serve.begun, 1U);
  EXPECT_EQ(serve.withdrawn, 0U);
}

TEST(StopNotice, WithoutTermsOrSoftThereIsNone) {
  StopSimulation serve;
  LimitUse use = spent_of_limit(1'000);
  use.limit.stop_running.reset();
  serve.look_each_minute(use, 120);
  LimitUse soft = spent_of_limit(1'000);
  soft.limit.is_hard = false;
  serve.look_each_minute(soft, 120);
  EXPECT_TRUE(serve.state.notices.empty());
}

TEST(StopNotice, WhatIsLeftTakesItBack) {
  StopSimulation serve;
  serve.look(spent_of_limit(100));
  serve.look_each_minute(spent_of_limit(100), 50);
  serve.look_each_minute(spent_of_limit(99), 1);  // a credit, or a restated bill
  EXPECT_EQ(serve.withdrawn, 1U);
  serve.look_each_minute(spent_of_limit(100), 15);
  EXPECT_FALSE(serve.is_due(spent_of_limit(100)));
  serve.look_each_minute(spent_of_limit(100), 46);
  EXPECT_TRUE(serve.is_due(spent_of_limit(100)));
}

TEST(StopNotice, ALimitThatIsRaisedOrChangedBeginsAnew) {
  StopSimulation serve;
  serve.look(spent_of_limit(150));
  serve.look_each_minute(spent_of_limit(150), 90);
  EXPECT_TRUE(serve.is_due(spent_of_limit(150)));
  LimitUse raised = spent_of_limit(150);
  raised.limit.per_month = stop_usd(140);
  serve.look_each_minute(raised, 1);
  EXPECT_FALSE(serve.is_due(raised));
  EXPECT_EQ(serve.withdrawn, 1U);
  EXPECT_EQ(serve.begun, 2U);
  LimitUse longer = raised;
  longer.limit.stop_running->grace_ms = 2 * 3'600'000;
  serve.look_each_minute(longer, 90);
  EXPECT_FALSE(serve.is_due(longer));
  EXPECT_EQ(serve.begun, 3U);
  LimitUse without = longer;
  without.limit.stop_running.reset();
  serve.look_each_minute(without, 1);
  EXPECT_TRUE(serve.state.notices.empty());
}

TEST(StopNotice, AnotherMonthBeginsAnew) {
  StopSimulation serve;
  serve.look(spent_of_limit(150));
  serve.look_each_minute(spent_of_limit(150), 59);
  serve.month += kStopMonthLength;
  serve.now = serve.month;
  serve.look_each_minute(spent_of_limit(150), 5);
  EXPECT_FALSE(serve.is_due(spent_of_limit(150)));
  EXPECT_EQ(serve.withdrawn, 1U);
}

TEST(StopNotice, AtTheTurnOfTheMonthNothingIsDueBeforeTheNextLook) {
  StopSimulation serve;
  const LimitUse use = spent_of_limit(150);
  serve.now = kStopMonth + kStopMonthLength - minutes(62);
  serve.look(use);
  serve.look_each_minute(use, 61);
  EXPECT_TRUE(serve.is_due(use));
  EXPECT_TRUE(serve.state.notices.at("nlp").is_of_month(serve.now));
  serve.now += std::chrono::milliseconds(59'999);
  EXPECT_TRUE(serve.is_due(use));
  serve.now += std::chrono::milliseconds(1);
  EXPECT_FALSE(serve.is_due(use));
  EXPECT_FALSE(serve.state.notices.at("nlp").is_of_month(serve.now));
  serve.now += std::chrono::seconds(30);
  EXPECT_FALSE(serve.is_due(use));
  EXPECT_FALSE(serve.state.notices.at("nlp").is_of_month(kStopMonth - minutes(1)));
}

TEST(StopNotice, AClockThatJumpsShortensNothing) {
  StopSimulation serve;
  const LimitUse use = spent_of_limit(100);
  serve.look(use);
  serve.now += hours(24 * 20);  // forward
  serve.look(use);
  EXPECT_FALSE(serve.is_due(use));
  EXPECT_EQ(serve.state.notices.at("nlp").observed_ms, 180'000U);
  serve.now -= hours(24 * 20);  // and back
  serve.look(use);
  serve.look_each_minute(use, 57);
  EXPECT_FALSE(serve.is_due(use));  // an hour was seen, and the owner was told 57 minutes ago
  serve.look_each_minute(use, 3);
  EXPECT_TRUE(serve.is_due(use));
}

TEST(StopNotice, WhileItCannotBeMeasuredTheGraceStandsStill) {
  StopSimulation serve;
  const LimitUse use = spent_of_limit(100);
  serve.look(use);
  serve.look_each_minute(use, 30);
  serve.look_each_minute(spent_of_limit(std::nullopt), 120);
  EXPECT_EQ(serve.withdrawn, 0U);
  EXPECT_FALSE(serve.is_due(use));
  serve.look_each_minute(use, 30);
  EXPECT_FALSE(serve.is_due(use));  // the first of them only ends the gap
  serve.look_each_minute(use, 1);
  EXPECT_TRUE(serve.is_due(use));
  serve.look_each_minute(spent_of_limit(std::nullopt), 1);
  EXPECT_FALSE(serve.is_due(use));
}

TEST(StopNotice, NobodyWasToldNothingIsDue) {
  StopSimulation serve;
  serve.tells = false;
  const LimitUse use = spent_of_limit(100);
  serve.look(use);
  serve.look_each_minute(use, 600);
  EXPECT_FALSE(serve.is_due(use));
  // Told now, it takes the whole grace from here on.
  serve.state.told.emplace(serve.state.notices.at("nlp").scope(), serve.now);
  serve.look_each_minute(use, 59);
  EXPECT_FALSE(serve.is_due(use));
  serve.look_each_minute(use, 1);
  EXPECT_TRUE(serve.is_due(use));
}

TEST(StopNotice, AMessageThatArrivesLateLeavesTheWholeGrace) {
  StopSimulation serve;
  serve.tells = false;
  const LimitUse use = spent_of_limit(100);
  serve.look(use);
  serve.look_each_minute(use, 59);
  serve.now += std::chrono::seconds(30);
  serve.state.told.emplace(serve.state.notices.at("nlp").scope(), serve.now);
  EXPECT_EQ(
      stops_from(serve.state.notices.at("nlp"), *use.limit.stop_running, serve.state, serve.now),
      serve.now + hours(1));
  // A clock that jumps just after it does not shorten what is left to be seen.
  serve.now += hours(5);
  serve.look(use);
  EXPECT_FALSE(serve.is_due(use));
  serve.look_each_minute(use, 59);
  EXPECT_FALSE(serve.is_due(use));
  serve.look_each_minute(use, 1);
  EXPECT_TRUE(serve.is_due(use));
  serve.state.told.clear();  // the receiver is there no more
  EXPECT_FALSE(serve.is_due(use));
}

TEST(StopNotice, ALookOfLongAgoStopsNothing) {
  StopSimulation serve;
  const LimitUse use = spent_of_limit(100);
  serve.look(use);
  serve.look_each_minute(use, 60);
  EXPECT_TRUE(serve.is_due(use));
  serve.now += minutes(6);  // and nobody looked
  EXPECT_FALSE(serve.is_due(use));
}

TEST(StopNotice, ARestartKeepsTheGraceThatWasSeenAndWaitsForALook) {
  StopSimulation serve;
  const LimitUse use = spent_of_limit(100);
  serve.look(use);
  serve.look_each_minute(use, 60);
  const auto read = parse_stop_notices(stop_notices_text(serve.state.notices));
  ASSERT_TRUE(read) << read.error().message;
  serve.state.notices = *read;
  EXPECT_TRUE(serve.state.notices.at("nlp").is_of_month(serve.now));
  EXPECT_FALSE(serve.is_due(use));
  serve.now += hours(48);  // serve was down
  serve.look(use);
  EXPECT_EQ(serve.begun, 1U);
  EXPECT_EQ(serve.state.notices.at("nlp").observed_ms, 3'600'000U);
  EXPECT_TRUE(serve.is_due(use));
}

TEST(StopNotice, ABrokenFileSaysNothing) {
  StopSimulation serve;
  serve.look(spent_of_limit(100));
  const std::string text = stop_notices_text(serve.state.notices);
  for (const std::string& broken : {std::string(), text.substr(0, text.size() - 1), text + "nlp\n",
                                    "x\n" + text, text + text.substr(text.find('\n') + 1)}) {
    EXPECT_FALSE(parse_stop_notices(broken).has_value()) << broken;
  }
  EXPECT_TRUE(parse_stop_notices(stop_notices_text({})).has_value());
}

TEST(StopNotice, GpuHoursThatAreUsedUpSayNothingOfMoney) {
  StopSimulation serve;
  LimitUse use = spent_of_limit(10);
  use.limit.gpu_hours = Money::from_units(5, Currency("GPH"));
  use.gpu_hours = Money::from_units(6, Currency("GPH"));
  serve.look(use);
  EXPECT_FALSE(serve.state.notices.at("nlp").is_of_money);
  EXPECT_EQ(serve.state.notices.at("nlp").because,
            "6.00 GPU-hours of 5.00 GPU-hours are used this month");
  use.spent = stop_usd(100);
  serve.look_each_minute(use, 1);  // work without GPUs has a grace of its own
  EXPECT_TRUE(serve.state.notices.at("nlp").is_of_money);
  EXPECT_EQ(serve.begun, 2U);
}

}  // namespace
}  // namespace pennyweight::guardrails
