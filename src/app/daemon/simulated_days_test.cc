// Days of a simulated cluster under a clock that is moved by hand: whatever stops, restarts or is
// away, what is shown live at midnight is what the ledger says once the day is settled, and both
// are the truth, up to what no source saw. That is listed with its money.
#include "app/daemon/simulated_days_testing.h"

namespace pennyweight {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(SimulatedDays, ADayIsSettledWholeForAPodThatGoesOnRunning) {
  pods_ = {{"p1", 2, at("2026-03-04T23:30:00Z"), at("2026-03-06T00:00:00Z")}};
  start();
  run_until(at("2026-03-05T00:12:00Z"));
  EXPECT_COST(settled().at("p1"), price(2, minutes(30)));
}

TEST_F(SimulatedDays, ThisMonthNeitherFallsNorJumpsAtMidnight) {
  pods_ = {{"p1", 2, at("2026-03-04T20:00:00Z"), at("2026-03-06T00:00:00Z")}};
  start();
  run_until(at("2026-03-05T00:00:00Z"));
  run_until(at("2026-03-05T00:00:01Z"));  // at midnight itself there is no time to show
  EXPECT_COST(shown_this_month().at("p1"), price(2, hours(4)));
  const auto at_midnight = shown_this_month();
  run_until(at("2026-03-05T00:05:00Z"));
  EXPECT_COST(shown_this_month().at("p1"), price(2, hours(4) + minutes(5)));
  run_until(at("2026-03-05T00:12:00Z"));
  const auto in_ledger = settled();
  EXPECT_EQ(in_ledger, at_midnight);
}

TEST_F(SimulatedDays, AKillLosesTenSecondsOfAPodThatEndsMeanwhileAndSaysSo) {
  pods_ = {{"p1", 1, at("2026-03-04T20:00:30Z"), at("2026-03-04T20:06:00Z")}};
  start();
  run_until(at("2026-03-04T20:04:00Z"));
  kill();
  run_until(at("2026-03-04T20:10:00Z"));
  start();
  run_until(at("2026-03-04T20:11:00Z"), seconds(10));
  run_until(at("2026-03-05T00:12:00Z"));
  EXPECT_COST(settled().at("p1"), price(1, minutes(3) + seconds(30)));
  const auto rows = set_aside();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].reason, HasSubstr("last seen at 2026-03-04T20:04:00Z"));
  EXPECT_THAT(rows[0].reason, HasSubstr("gone by 2026-03-04T20:10:20Z"));
  // 380 s of a GPU at 2.5 an hour.
  EXPECT_THAT(rows[0].reason, HasSubstr("at most 0.263888"));
  const auto view = ledger_->view();
  ASSERT_THAT(view->clusters.at(kSimulated).recent.notes, SizeIs(1));
  // It is said once, whatever restarts.
  stop();
  start();
  run_until(at("2026-03-05T00:40:00Z"));
  EXPECT_THAT(set_aside(), SizeIs(1));
}

TEST_F(SimulatedDays, AStopWritesWhatRuns) {
  pods_ = {{"p1", 1, at("2026-03-04T20:00:30Z"), at("2026-03-04T20:06:00Z")}};
  start();
  run_until(at("2026-03-04T20:03:00Z"));
  stop();
  start();  // the ledger alone, without the files beside it
  std::vector<Holding> found;
  in_ledger([&](Store& store) -> Result<bool> {
    TRY(store.scan_holdings(kSimulated, Interval(kInstantMin, kInstantMax),
                            [&](std::span<const Holding> some) {
                              found.insert(found.end(), some.begin(), some.end());
                              return true;
                            }));
    return true;
  });
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].held.end(), at("2026-03-04T20:03:00Z"));
}

TEST_F(SimulatedDays, WhatTheApiStillListsAfterAnAbsenceIsExact) {
  pods_ = {{"p1", 1, at("2026-03-04T20:00:30Z"), at("2026-03-04T23:59:00Z"), hours(12)},
           {"p2", 3, at("2026-03-04T21:00:00Z"), at("2026-03-05T03:00:00Z"), hours(12)}};
  start();
  run_until(at("2026-03-04T22:00:00Z"));
  kill();
  run_until(at("2026-03-05T04:00:00Z"));
  start();
  run_until(at("2026-03-06T00:12:00Z"));
  auto costs = settled();
  EXPECT_COST(costs.at("p1"), price(1, hours(3) + minutes(58) + seconds(30)));
  EXPECT_COST(costs.at("p2"), price(3, hours(6)));
  EXPECT_THAT(set_aside(), SizeIs(0));
}

TEST_F(SimulatedDays, WhatBecomesKnownAfterAMonthsEndIsInThatMonth) {
  clock_ = SimulatedClock(at("2026-03-31T22:00:00Z"));
  pods_ = {{"p1", 2, at("2026-03-31T22:30:00Z"), at("2026-04-01T05:00:00Z"), hours(1)}};
  start();
  run_until(at("2026-03-31T23:00:00Z"));
  api_->set_down(true);
  run_until(at("2026-04-01T02:00:00Z"));
  EXPECT_COST(settled("2026-03").at("p1"), price(2, minutes(30)));
  api_->set_down(false);
  run_until(at("2026-04-01T02:30:00Z"));
  EXPECT_COST(settled("2026-03").at("p1"), price(2, minutes(90)));
  run_until(at("2026-04-02T00:12:00Z"));
  EXPECT_COST(settled("2026-04").at("p1"), price(2, hours(5)));
}

TEST_F(SimulatedDays, AMonthThatEndsWhileServeIsAwayIsSettled) {
  clock_ = SimulatedClock(at("2026-03-29T22:00:00Z"));
  pods_ = {{"p1", 2, at("2026-03-29T22:30:00Z"), at("2026-04-03T05:00:00Z"), hours(1)}};
  start();
  run_until(at("2026-03-30T00:12:00Z"));
  stop();
  clock_ = SimulatedClock(at("2026-04-02T12:00:00Z"));
  start();
  run_until(at("2026-04-02T12:30:00Z"));
  EXPECT_COST(settled("2026-03").at("p1"), price(2, hours(49) + minutes(30)));
  EXPECT_COST(settled("2026-04").at("p1"), price(2, hours(24)));
}

TEST_F(SimulatedDays, APodThatVanishesBetweenTwoListsIsSaidWithItsMoney) {
  pods_ = {{"p1", 2, at("2026-03-04T20:00:00Z"), at("2026-03-04T20:30:00Z")}};
  start();
  run_until(at("2026-03-04T20:20:00Z"));
  api_->set_down(true, true);
  run_until(at("2026-03-04T21:00:00Z"));
  api_->set_down(false);
  run_until(at("2026-03-05T00:12:00Z"));
  EXPECT_COST(settled().at("p1"), price(2, minutes(20)));
  const auto rows = set_aside();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].reason, HasSubstr("last seen at 2026-03-04T20:20:00Z"));
}

// The API alone is away: what telemetry saw of a pod meanwhile was written before the pod was gone.
TEST_F(SimulatedDays, APodThatTelemetrySawWhileTheApiWasAwayCountsUntilThen) {
  pods_ = {{"p1", 1, at("2026-03-04T20:00:00Z"), at("2026-03-04T20:20:10Z")}};
  start();
  const auto scrape_until = [&](Instant until) {
    while (clock_.now() < until) {
      clock_.advance(minutes(1));
      scrape_cards({clock_.now() < pods_[0].end ? "p1" : "", ""});
      ledger_->cycle();
    }
  };
  scrape_until(at("2026-03-04T20:10:00Z"));
  api_->set_down(true, true);
  scrape_until(at("2026-03-04T20:35:00Z"));
  api_->set_down(false);
  run_until(at("2026-03-04T20:55:00Z"), minutes(5));
  run_until(at("2026-03-05T00:12:00Z"));
  // Until the scrape that no longer named it.
  EXPECT_COST(settled().at("p1"), price(1, minutes(21)));
  const auto rows = set_aside();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].reason, HasSubstr("last seen at 2026-03-04T20:21:00Z"));
}

// The telemetry of a run is not taken for that of the one before it under the same name.
TEST_F(SimulatedDays, TelemetryOfTheNextRunOfANameExtendsNoneThatIsGone) {
  pods_ = {{"set-0", 1, at("2026-03-04T20:00:00Z"), at("2026-03-04T20:15:00Z")},
           {"set-0", 1, at("2026-03-04T20:30:00Z"), at("2026-03-04T23:00:00Z")}};
  start();
  const auto scrape_until = [&](Instant until) {
    while (clock_.now() < until) {
      clock_.advance(minutes(1));
      const bool runs = clock_.now() < pods_[0].end || pods_[1].begin <= clock_.now();
      scrape_cards({runs ? "set-0" : ""});
      ledger_->cycle();
    }
  };
  scrape_until(at("2026-03-04T20:10:00Z"));
  api_->set_down(true, true);
  scrape_until(at("2026-03-04T20:35:00Z"));
  api_->set_down(false);
  run_until(at("2026-03-04T20:55:00Z"), minutes(5));
  run_until(at("2026-03-05T00:12:00Z"));
  EXPECT_COST(settled().at("set-0"), price(1, minutes(15) + hours(2) + minutes(30)));
}

}  // namespace
}  // namespace pennyweight
