#include "app/alerting/alert_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/alerting/rule_settings.h"
#include "app/context/log.h"
#include "config/config.h"
#include "core/card_share.h"
#include "core/clock.h"
#include "core/instant.h"

namespace pennyweight {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

// A workload that runs for four hours and uses a tenth of its GPU, or nothing, on a node without a
// price.
std::shared_ptr<const LiveView> view_at(Instant now, bool is_idle) {
  const Interval window(now - minutes(5), now);
  const GpuTime time = GpuTime::of(UInt128{CardShare::kUnitsPerCard} * window.length_ms());
  Labels dimensions;
  EXPECT_TRUE(dimensions.set("team", "nlp"));
  LiveShare share{.workload = WorkloadId("ml/a"),
                  .labels = {},
                  .dimensions = dimensions,
                  .nodes = {NodeId("n1")},
                  .gpus = {},
                  .device = "gpu",
                  .since = now - hours(4),
                  .held_ms = window.length_ms(),
                  .running = true,
                  .cost = {},
                  .idle_cost = {},
                  .gpu_time = time,
                  .observed_time = time,
                  .idle_time = is_idle ? time : GpuTime::of(time.count() / 10 * 9)};
  LiveCosts recent{.window = window, .shares = {share}, .notes = {}, .price_per_hour = {}};
  auto view = std::make_shared<LiveView>();
  view->at = now;
  view->clusters.emplace(
      ClusterId("lab"),
      LiveCluster{.cluster = ClusterId("lab"), .recent = std::move(recent), .today = {}});
  return view;
}

class AlertFinderTest : public testing::Test {
 protected:
  AlertFinderTest() {
    ClusterConfig cluster{.name = ClusterId("lab"), .origin = {}};
    config_.clusters.push_back(cluster);
  }
  AlertFinder finder() {
    return AlertFinder(
        config_,
        {.summarise = [](const SummaryQuery&) -> Result<std::vector<SummaryRow>> {
           return std::vector<SummaryRow>();
         },
         .live = [this] { return view_at(now_, is_idle_); },
         .version = [this] { return version_; },
         .outcomes = [this](const Interval& during, const auto& sink) -> Result<void> {
           ++reads_;
           if (fails_) return fail(ErrorCode::kIo, "the ledger is in use");
           for (const Instant at : checkpoints_) {
             if (!during.contains(at)) continue;
             const Outcome one(ClusterId("lab"), WorkloadId("ml/a"), "checkpoints",
                               Interval(at, at + minutes(1)), 1);
             sink(std::span(&one, 1));
           }
           return {};
         },
         .reconcile = [this]() -> Result<ReconcileResult> {
           ++reconciled_;
           ReconcileTotals totals{Costs::zero(kUsd), Costs::zero(kUsd)};
           totals.lines_off = lines_off_;
           ReconcileResult result;
           result.months.push_back({.month = "2026-03", .totals = {totals}, .lines = {}});
           return result;
         },
         .commitments = [this]() -> Result<std::vector<CommitmentUse>> {
           ++purchases_read_;
           if (purchases_fail_) return fail(ErrorCode::kIo, "the ledger is in use");
           return std::vector<CommitmentUse>();
         },
         .oom_kills = [this] { return kills_; }},
        log_);
  }
  std::vector<std::string> rules(AlertFinder& finder, const AlertBook& book = {}) {
    std::vector<std::string> names;
    for (const AlertCondition& one :
         finder.find(*parse_date("2026-03-04"), now_, book).conditions) {
      names.push_back(one.rule + (one.is_inhibited ? " (silent)" : "") +
                      (one.wait.count() == 0 ? " at once" : ""));
    }
    return names;
  }

  Config config_;
  Instant now_ = *parse_instant("2026-03-04T10:00:00Z");
  SimulatedClock clock_{now_};
  Log log_{clock_};
  bool is_idle_ = false;
  OomKills kills_;
  std::uint64_t version_ = 1;
  std::vector<Instant> checkpoints_;
  int reads_ = 0;
  bool fails_ = false;
  std::uint64_t lines_off_ = 0;
  int reconciled_ = 0;
  bool purchases_fail_ = false;
  int purchases_read_ = 0;
};

TEST_F(AlertFinderTest, WhatIsUsedIsToldWithoutAPrice) {
  AlertFinder finder = this->finder();
  EXPECT_THAT(rules(finder), testing::ElementsAre("low_utilisation"));
  is_idle_ = true;
  EXPECT_THAT(rules(finder), testing::ElementsAre("gpu_idle"));
}

TEST_F(AlertFinderTest, WhatWasKilledIsToldToTheOwnerOfWhatRuns) {
  for (const char* workload : {"ml/a", "ml/gone"}) {
    kills_.kills.push_back({ClusterId("lab"), WorkloadId(workload), "main", now_});
  }
  AlertFinder finder = this->finder();
  AlertFindings found = finder.find(*parse_date("2026-03-04"), now_, {});
  found.conditions.clear();
  finder.find_in_telemetry(now_, AlertFinder::Telemetry::kArrived, {}, found);
  ASSERT_EQ(found.conditions.size(), 2u);
  EXPECT_EQ(found.conditions[0].subject, "lab/ml/a");
  EXPECT_EQ(found.conditions[0].owner, "nlp");
  EXPECT_EQ(found.conditions[1].subject, "lab/ml/gone");
  EXPECT_EQ(found.conditions[1].owner, "");
}

// The last five minutes are known to be idle, so that a rule about five minutes waits no longer.
TEST_F(AlertFinderTest, WorkThatAnswersRequestsIsIdleAfterTheWindowOfTheView) {
  is_idle_ = true;
  config_.alerts.rules = {
      {.rule = "gpu_idle", .for_ms = 300'000, .keep_ms = {}, .is_critical = {}}};
  AlertFinder finder = this->finder();
  EXPECT_THAT(rules(finder), testing::ElementsAre("gpu_idle at once"));
}

TEST_F(AlertFinderTest, AnAlertOfCheckpointsEndsWithTheNextOne) {
  config_.alerts.off = {"low_utilisation"};
  AlertFinder other = this->finder();
  EXPECT_THAT(rules(other), testing::IsEmpty()) << "one that never wrote any raises no alert";
  checkpoints_ = {now_ - hours(3)};
  reads_ = 0;
  AlertFinder finder = this->finder();
  EXPECT_THAT(rules(finder), testing::ElementsAre("no_checkpoint at once"));
  now_ += minutes(1);
  EXPECT_THAT(rules(finder), testing::ElementsAre("no_checkpoint at once"));
  EXPECT_EQ(reads_, 1) << "outcomes are many";
  checkpoints_.push_back(now_ - minutes(2));
  AlertBook book;
  book[{"no_checkpoint", "lab/ml/a"}].condition = {
      .rule = "no_checkpoint", .scope = "lab/ml/a", .subject = "lab/ml/a"};
  EXPECT_THAT(rules(finder, book), testing::IsEmpty());
}

// Checkpoints that can't be read may have been written: nothing fires, and nothing ends.
TEST_F(AlertFinderTest, CheckpointsThatCannotBeReadAreUnknownAndReadAgain) {
  config_.alerts.off = {"low_utilisation"};
  checkpoints_ = {now_ - hours(3)};
  AlertFinder finder = this->finder();
  EXPECT_THAT(rules(finder), testing::ElementsAre("no_checkpoint at once"));
  const auto unknown = [&] {
    std::vector<std::string> names;
    for (const UnknownAlerts& one : finder.find(*parse_date("2026-03-04"), now_, {}).unknown) {
      names.push_back(one.rule);
    }
    return names;
  };
  EXPECT_THAT(unknown(), testing::Not(testing::Contains("no_checkpoint")));
  now_ += hours(4);
  checkpoints_.push_back(now_ - minutes(5));
  fails_ = true;
  EXPECT_THAT(rules(finder), testing::IsEmpty());
  EXPECT_THAT(unknown(), testing::Contains("no_checkpoint"));
  fails_ = false;
  now_ += minutes(1);
  EXPECT_THAT(rules(finder), testing::IsEmpty()) << "what was missed is read at once";
  EXPECT_THAT(unknown(), testing::Not(testing::Contains("no_checkpoint")));
}

TEST_F(AlertFinderTest, ALedgerThatIsOffIsReconciledAgainAfterARun) {
  config_.alerts.off = {"low_utilisation"};
  AlertFinder finder = this->finder();
  lines_off_ = 2;
  EXPECT_THAT(rules(finder), testing::ElementsAre("reconcile_off"));
  now_ += minutes(1);
  EXPECT_THAT(rules(finder), testing::ElementsAre("reconcile_off"));
  EXPECT_EQ(reconciled_, 1) << "an hour has not passed, and nothing has changed";
  lines_off_ = 0;
  ++version_;
  EXPECT_THAT(rules(finder), testing::IsEmpty());
  ++version_;
  EXPECT_THAT(rules(finder), testing::IsEmpty());
  EXPECT_EQ(reconciled_, 2);
}

TEST_F(AlertFinderTest, PurchasesThatCannotBeReadAreReadAgain) {
  AlertFinder finder = this->finder();
  purchases_fail_ = true;
  rules(finder);
  now_ += minutes(1);
  purchases_fail_ = false;
  rules(finder);
  EXPECT_EQ(purchases_read_, 2);
  now_ += minutes(1);
  rules(finder);
  EXPECT_EQ(purchases_read_, 2) << "an hour has not passed";
}

TEST(RuleSettings, ARuleThatIsOffSilencesNoOther) {
  const auto condition = [](std::string rule, std::string scope, bool is_inhibited) {
    return AlertCondition{.rule = std::move(rule),
                          .scope = std::move(scope),
                          .subject = "run",
                          .is_inhibited = is_inhibited};
  };
  const std::vector<AlertCondition> all{
      condition("budget_spent", "run: 50 %", true), condition("budget_spent", "run: 80 %", true),
      condition("budget_exhausted", "run", false), condition("budget_probable", "run", true),
      condition("gpu_ecc", "run", true)};
  const auto told = [&](std::vector<std::string> off) {
    AlertConfig config;
    config.off = std::move(off);
    std::vector<std::string> scopes;
    for (const AlertCondition& one : as_configured(all, config)) {
      if (!one.is_inhibited) scopes.push_back(one.rule + " " + one.scope);
    }
    return scopes;
  };
  using testing::ElementsAre;
  EXPECT_THAT(told({}), ElementsAre("budget_exhausted run"));
  EXPECT_THAT(told({"budget_exhausted"}), ElementsAre("budget_spent run: 80 %"));
  EXPECT_THAT(told({"budget_forecast", "gpu_xid"}),
              ElementsAre("budget_exhausted run", "budget_probable run", "gpu_ecc run"));
  EXPECT_THAT(told({"gpu_ecc"}), ElementsAre("budget_exhausted run"));
}

}  // namespace
}  // namespace pennyweight
