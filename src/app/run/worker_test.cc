// Workers on one ledger in memory, step by step under a clock that the test moves: what is due, who
// claims it, what happens when a worker dies or wakes up, and that in the end the ledger has what
// one `allocate` of all facts gives.
#include "app/run/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "ledger/store_rules.h"
#include "reporting/queries/staleness.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

Instant at(const char* text) { return *parse_instant(text); }

Node machine(const std::string& cluster, const std::string& name) {
  return {.cluster = ClusterId(cluster),
          .name = NodeId(name),
          .provider_id = "i-" + name,
          .instance_type = {},
          .region = {},
          .pool = PoolId(""),
          .gpu_model = "H100",
          .gpu_count = 8,
          .cpu_milli = {},
          .memory_bytes = {},
          .from = at("2026-01-01"),
          .to = {},
          .id = {},
          .source = {}};
}

Holding job(const std::string& cluster, const std::string& name, const std::string& node,
            const std::string& team, const char* from, const char* to) {
  Holding holding(ClusterId(cluster), WorkloadId(name), Interval(at(from), at(to)),
                  OnNodes{{{NodeId(node), 3}}});
  EXPECT_TRUE(holding.labels.set("team", team));
  return holding;
}

Charge line(const std::string& resource, std::int64_t units, const char* from = "2026-03-01",
            const char* to = "2026-04-01") {
  const Money cost = Money::from_units(units, kUsd);
  const Instant month = at((std::string(from).substr(0, 7) + "-01").c_str());
  Charge made(Interval(month, month + std::chrono::days(31)), Interval(at(from), at(to)),
              {cost, cost, cost, cost});
  made.resource_id = resource;
  return made;
}

class WorkerTest : public testing::Test {
 protected:
  WorkerTest() : store_(make_memory_store(false)) {
    SpreadRule all;
    all.kind = PostingKind::kShared;
    all.how = Spread::kProportional;
    all.over = SpreadOver::kMonth;
    config_.policy.spread.push_back(all);
    take_in({machine("a", "a1"), machine("b", "b1")},
            {job("a", "1", "a1", "nlp", "2026-03-04T01:00:00Z", "2026-03-05T01:00:00Z"),
             job("b", "2", "b1", "vision", "2026-03-04T01:00:00Z", "2026-03-14T01:00:00Z")},
            {line("i-a1", 1000), line("i-b1", 2000), line("support", 77)});
  }

  void take_in(const std::vector<Node>& nodes, const std::vector<Holding>& jobs,
               const std::vector<Charge>& lines) {
    const auto session =
        *store_->begin_import({.format = "t", .name = "t", .file_hash = {}, .at = clock_.now()});
    ASSERT_TRUE(session->append_nodes(nodes));
    ASSERT_TRUE(session->append_holdings(jobs));
    ASSERT_TRUE(session->append_charges(lines));
    ASSERT_TRUE(session->commit());
  }

  std::unique_ptr<Worker> worker(const std::string& name, bool once = false) {
    return std::make_unique<Worker>(
        config_, Catalog::built_in(),
        WorkerOptions{.name = name, .lease = seconds(30), .once = once},
        WorkerHooks{.on_claim = {},
                    .before_commit = [this]() -> Result<void> { return before_commit_(); },
                    .on_run = [this](const AllocatedScope& done) -> Result<void> {
                      divided_.push_back(done.run.scope.cluster.text());
                      unchanged_ += done.unchanged ? 1 : 0;
                      return {};
                    }},
        clock_, log_);
  }
  Worker::Step step(Worker& worker) {
    clock_.advance(std::chrono::milliseconds(10));
    const auto done = worker.step(*store_);
    EXPECT_TRUE(done) << done.error().message;
    return done.value_or(Worker::Step::kNothingDue);
  }
  // Steps until nothing is due.
  void finish(Worker& worker) {
    for (int i = 0; i < 50; ++i) {
      if (step(worker) == Worker::Step::kNothingDue) return;
    }
    ADD_FAILURE() << "there was no end of it";
  }

  std::vector<WorkItem> items() {
    look_ = {};
    EXPECT_TRUE(refresh_work(*store_, look_));
    rules_ = work_criteria(config_.policy, Catalog::built_in(), config_.join_rules);
    return work_items(look_, rules_);
  }
  WorkItem item(const std::string& cluster, const std::string& month = "2026-03") {
    for (const WorkItem& one : items()) {
      if (one.scope == Scope{ClusterId(cluster), month} && one.state != WorkState::kUnplanned) {
        return one;
      }
    }
    ADD_FAILURE() << "no item " << cluster;
    return {};
  }
  // Every posting as it stands, whichever runs it is of.
  static std::vector<std::string> postings(Store& store) {
    std::vector<std::string> all;
    const auto runs = store.runs();
    for (const pennyweight::Run& run : *runs) {
      if (run.current && run.postings > 0) {
        all.push_back(run.scope.cluster.text() + " " + run.scope.month + " " +
                      to_text(run.postings_digest));
      }
    }
    return all;
  }
  // What one allocate of all facts gives.
  std::vector<std::string> wanted() {
    const auto fresh = make_memory_store();
    auto session =
        *fresh->begin_import({.format = "t", .name = "t", .file_hash = {}, .at = clock_.now()});
    const auto nodes = store_->nodes();
    EXPECT_TRUE(session->append_nodes(*nodes));
    const Interval ever(at("2026-01-01"), at("2027-01-01"));
    for (const char* cluster : {"a", "b"}) {
      EXPECT_TRUE(
          store_->scan_holdings(ClusterId(cluster), ever, [&](std::span<const Holding> some) {
            EXPECT_TRUE(session->append_holdings(some));
            return true;
          }));
    }
    EXPECT_TRUE(store_->scan_charges("", [&](std::span<const Charge> some) {
      EXPECT_TRUE(session->append_charges(some));
      return true;
    }));
    EXPECT_TRUE(session->commit());
    session.reset();
    const auto overview = fresh->overview();
    for (const std::string& month : overview->months) {
      auto loaded = LedgerMonth::load(*fresh, month, config_.join_rules);
      const auto catalog = Catalog::built_in();
      EXPECT_TRUE(allocate_whole_month(*fresh, *loaded,
                                       {.policy = config_.policy,
                                        .catalog = catalog,
                                        .threads = 1,
                                        .join_rules = config_.join_rules,
                                        .at = clock_.now(),
                                        .changed = {}}));
    }
    return postings(*fresh);
  }

  Config config_ = default_config();
  SimulatedClock clock_{at("2026-04-02T10:00:00Z")};
  Log log_{clock_};
  std::unique_ptr<Store> store_;
  std::vector<std::string> divided_;
  int unchanged_ = 0;
  std::function<Result<void>()> before_commit_ = [] { return Result<void>(); };
  WorkSnapshot look_;
  WorkCriteria rules_;
};

TEST_F(WorkerTest, LeavesNoMonthBehindItsFacts) {
  const auto stale = [&] {
    std::vector<std::string> months;
    const auto found = query_staleness(*store_, config_.policy);
    EXPECT_TRUE(found) << found.error().message;
    for (const StaleMonth& one : *found) months.push_back(one.month);
    return months;
  };
  const auto works = worker("w");
  EXPECT_THAT(stale(), ElementsAre("2026-03"));
  finish(*works);
  EXPECT_THAT(stale(), IsEmpty());
  // A line of one cluster leaves the other's run as it is, and it is not behind.
  clock_.advance(hours(1));
  take_in({}, {}, {line("i-b1", 5, "2026-03-02", "2026-03-03")});
  EXPECT_THAT(stale(), ElementsAre("2026-03"));
  finish(*works);
  EXPECT_THAT(stale(), IsEmpty());
  // A job of the next month is none of this one's.
  clock_.advance(hours(1));
  take_in({}, {job("a", "9", "a1", "nlp", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z")}, {});
  EXPECT_THAT(stale(), IsEmpty());
  clock_.advance(hours(1));
  take_in({machine("b", "b2")}, {}, {});
  EXPECT_THAT(stale(), ElementsAre("2026-03"));
  finish(*works);
  EXPECT_THAT(stale(), IsEmpty());
}

TEST_F(WorkerTest, WhatServeShowsLiveMakesNoMonthStale) {
  const auto works = worker("w");
  finish(*works);
  const auto stale = [&](const LiveClusters& live) {
    return query_staleness(*store_, config_.policy, live)->size();
  };
  using namespace std::chrono;
  clock_.advance(hours(1));
  take_in({machine("b", "b2")},
          {job("b", "9", "b1", "nlp", "2026-03-02T00:00:00Z", "2026-03-02T06:00:00Z")}, {});
  EXPECT_EQ(stale({}), 1U);
  EXPECT_EQ(stale({.clusters = {ClusterId("a")}, .first_day = 2026y / 3 / 1}), 1U);
  EXPECT_EQ(stale({.clusters = {ClusterId("b")}, .first_day = 2026y / 3 / 3}), 1U);
  EXPECT_EQ(stale({.clusters = {ClusterId("b")}, .first_day = 2026y / 3 / 2}), 0U);
}

TEST_F(WorkerTest, AllocatingByHandEndsStalenessThoughTheRunsStay) {
  const auto stale = [&] { return query_staleness(*store_, config_.policy)->size(); };
  const auto catalog = Catalog::built_in();
  const auto allocates = [&] {
    clock_.advance(hours(1));
    const auto imports = store_->work_records()->imports;
    auto loaded = LedgerMonth::load(*store_, "2026-03", config_.join_rules);
    const auto scopes = allocate_whole_month(*store_, *loaded,
                                             {.policy = config_.policy,
                                              .catalog = catalog,
                                              .threads = 1,
                                              .join_rules = config_.join_rules,
                                              .at = clock_.now(),
                                              .changed = {},
                                              .imports_read = imports});
    ASSERT_TRUE(scopes) << scopes.error().message;
  };
  allocates();
  EXPECT_EQ(stale(), 0U);
  clock_.advance(hours(1));
  take_in({machine("b", "b2")}, {}, {});
  EXPECT_EQ(stale(), 1U);
  const auto before = postings(*store_);
  allocates();
  EXPECT_EQ(postings(*store_), before);
  EXPECT_EQ(stale(), 0U);
  // A worker knows of what these runs were made, once the month is planned.
  const auto works = worker("w");
  finish(*works);
  EXPECT_THAT(divided_, IsEmpty());
}

TEST_F(WorkerTest, EachDueScopeIsAllocatedOnceAndNoClusterLast) {
  const auto one = worker("one");
  EXPECT_EQ(step(*one), Worker::Step::kPlanned);
  EXPECT_EQ(item("").state, WorkState::kWaiting);
  EXPECT_EQ(item("a").due, DueReason::kNever);
  finish(*one);
  EXPECT_THAT(divided_, SizeIs(3));
  EXPECT_EQ(divided_.back(), "");
  EXPECT_EQ(postings(*store_), wanted());
  for (const WorkItem& done : items()) EXPECT_EQ(done.state, WorkState::kDone);
  // Another one finds nothing to do.
  const auto two = worker("two", true);
  EXPECT_EQ(step(*two), Worker::Step::kNothingDue);
}

TEST_F(WorkerTest, TwoWorkersShareTheWork) {
  const auto one = worker("one"), two = worker("two");
  for (int i = 0; i < 20; ++i) {
    step(*one);
    step(*two);
  }
  EXPECT_THAT(divided_, UnorderedElementsAre("", "a", "b"));
  EXPECT_EQ(postings(*store_), wanted());
}

TEST_F(WorkerTest, AFactMakesTheScopesItAffectsDue) {
  const auto one = worker("one");
  finish(*one);
  divided_.clear();
  clock_.advance(hours(1));
  // Of another time, and of another cluster.
  take_in({}, {job("a", "9", "a1", "nlp", "2026-05-04T01:00:00Z", "2026-05-05T01:00:00Z")}, {});
  EXPECT_EQ(item("a").state, WorkState::kDone);
  const Instant came = clock_.now();
  take_in({}, {job("a", "3", "a1", "cv", "2026-03-20T01:00:00Z", "2026-03-20T05:00:00Z")}, {});
  WorkItem due = item("a");
  EXPECT_EQ(due.due, DueReason::kFacts);
  EXPECT_EQ(due.imports_behind, 2u);
  EXPECT_EQ(item("b").state, WorkState::kDone);
  std::vector<WorkItem> all = items();
  ASSERT_TRUE(find_behind_since(*store_, rules_, all));
  EXPECT_EQ(all[0].behind_since, came);
  finish(*one);
  // The support is spread by what cluster a paid.
  EXPECT_THAT(divided_, ElementsAre("a", ""));
  EXPECT_EQ(postings(*store_), wanted());
}

TEST_F(WorkerTest, AFurtherChargeMakesItsClusterDue) {
  const auto one = worker("one");
  finish(*one);
  divided_.clear();
  clock_.advance(hours(1));
  take_in({}, {}, {line("i-b1", 5, "2026-03-02", "2026-03-03")});
  EXPECT_EQ(items().front().state, WorkState::kUnplanned);
  EXPECT_EQ(step(*one), Worker::Step::kPlanned);
  EXPECT_EQ(item("b").due, DueReason::kLines);
  EXPECT_EQ(item("a").state, WorkState::kDone);
  finish(*one);
  EXPECT_THAT(divided_, ElementsAre("b", ""));
  EXPECT_EQ(postings(*store_), wanted());
}

TEST_F(WorkerTest, ANodeMayMoveAChargeToAnotherCluster) {
  const auto one = worker("one");
  finish(*one);
  clock_.advance(hours(1));
  take_in({machine("b", "support")}, {}, {});
  finish(*one);
  EXPECT_EQ(postings(*store_), wanted());
}

TEST_F(WorkerTest, WithoutSpreadingTheScopeOfNoClusterDoesNotWait) {
  config_.policy.spread.clear();
  const auto one = worker("one");
  EXPECT_EQ(step(*one), Worker::Step::kPlanned);
  EXPECT_EQ(item("").state, WorkState::kDue);
  finish(*one);
  divided_.clear();
  clock_.advance(hours(1));
  take_in({}, {job("a", "3", "a1", "cv", "2026-03-20T01:00:00Z", "2026-03-20T05:00:00Z")}, {});
  finish(*one);
  EXPECT_THAT(divided_, ElementsAre("a"));
}

TEST_F(WorkerTest, AChangedPolicyMakesEveryScopeDue) {
  finish(*worker("one"));
  divided_.clear();
  clock_.advance(hours(1));
  config_.policy.time_zone = *TimeZone::parse("Asia/Tokyo");
  EXPECT_EQ(item("a").due, DueReason::kRules);
  finish(*worker("two"));
  EXPECT_THAT(divided_, SizeIs(3));
  EXPECT_EQ(postings(*store_), wanted());
}

TEST_F(WorkerTest, AClosedMonthIsNotAllocated) {
  finish(*worker("one"));
  ASSERT_TRUE(store_->close_month({.month = "2026-03",
                                   .at = clock_.now(),
                                   .by = "ann",
                                   .reason = "",
                                   .last_import = 0,
                                   .lines = 0,
                                   .runs = 0,
                                   .digest = {}}));
  config_.policy.time_zone = *TimeZone::parse("Asia/Tokyo");
  EXPECT_THAT(items(), IsEmpty());
  EXPECT_EQ(step(*worker("two")), Worker::Step::kNothingDue);
}

// A worker died in the middle of its work: a claim without a worker.
TEST_F(WorkerTest, ASilentClaimIsTakenOverAfterItsLease) {
  const auto one = worker("one", true);
  step(*one);
  const auto dead = store_->claim_work({.scope = {ClusterId("a"), "2026-03"},
                                        .worker = "dead",
                                        .at = clock_.now(),
                                        .lease = seconds(30),
                                        .newest_known = 0});
  ASSERT_TRUE(dead && *dead);
  EXPECT_EQ(step(*one), Worker::Step::kAllocated);  // b
  EXPECT_EQ(step(*one), Worker::Step::kWaiting);
  EXPECT_EQ(item("a").state, WorkState::kClaimed);
  // While its heartbeats arrive nobody takes over.
  for (int i = 0; i < 5; ++i) {
    clock_.advance(seconds(20));
    ASSERT_TRUE(store_->renew_claim(**dead, clock_.now()));
    EXPECT_EQ(step(*one), Worker::Step::kWaiting);
  }
  clock_.advance(seconds(29));
  EXPECT_EQ(step(*one), Worker::Step::kWaiting);
  clock_.advance(seconds(2));
  EXPECT_EQ(step(*one), Worker::Step::kAllocated);
  finish(*one);
  EXPECT_EQ(postings(*store_), wanted());
}

// A clock that is minutes behind neither makes a live worker look dead nor a dead one alive.
TEST_F(WorkerTest, DifferentClocksDecideNothing) {
  const auto one = worker("one", true);
  step(*one);
  const auto other = store_->claim_work({.scope = {ClusterId("a"), "2026-03"},
                                         .worker = "behind",
                                         .at = clock_.now() - minutes(9),
                                         .lease = seconds(30),
                                         .newest_known = 0});
  ASSERT_TRUE(other && *other);
  EXPECT_EQ(step(*one), Worker::Step::kAllocated);
  EXPECT_EQ(step(*one), Worker::Step::kWaiting);
  clock_.advance(seconds(31));
  EXPECT_EQ(step(*one), Worker::Step::kAllocated);
  // A claim of yesterday needs no watching.
  const auto two = worker("two", true);
  clock_.advance(hours(24));
  take_in({}, {job("b", "3", "b1", "cv", "2026-03-20T01:00:00Z", "2026-03-20T05:00:00Z")}, {});
  const auto claimed = store_->claim_work({.scope = {ClusterId("b"), "2026-03"},
                                           .worker = "yesterday",
                                           .at = clock_.now() - hours(20),
                                           .lease = seconds(30),
                                           .newest_known = item("b").claim->claim.number});
  ASSERT_TRUE(claimed && *claimed);
  finish(*two);
  EXPECT_EQ(postings(*store_), wanted());
}

// It sleeps before it commits its run, and another worker allocates newer facts meanwhile.
TEST_F(WorkerTest, AWorkerThatWakesUpTooLateChangesNothing) {
  const auto sleeper = worker("sleeper"), heir = worker("heir");
  finish(*sleeper);
  clock_.advance(hours(1));
  take_in({}, {job("a", "3", "a1", "cv", "2026-03-20T01:00:00Z", "2026-03-20T05:00:00Z")}, {});
  bool slept = false;
  before_commit_ = [&]() -> Result<void> {
    if (std::exchange(slept, true)) return {};
    take_in({}, {job("a", "4", "a1", "hpc", "2026-03-21T01:00:00Z", "2026-03-21T05:00:00Z")}, {});
    step(*heir);
    clock_.advance(seconds(31));
    finish(*heir);
    return {};
  };
  const std::size_t runs = store_->runs()->size();
  step(*sleeper);
  EXPECT_EQ(store_->runs()->size(), runs + 2);  // a and no cluster, by the heir
  EXPECT_EQ(postings(*store_), wanted());
  clock_.advance(hours(1));
  finish(*sleeper);
  EXPECT_EQ(store_->runs()->size(), runs + 2);
}

// A run by hand while a worker allocates: the worker's run is discarded, and the scope is allocated
// again.
TEST_F(WorkerTest, AScopeWithARunByHandIsAllocatedAgain) {
  const auto one = worker("one");
  finish(*one);
  clock_.advance(hours(1));
  ASSERT_TRUE((*store_->begin_run(*item("a").run))->commit());
  EXPECT_EQ(item("a").due, DueReason::kOtherRun);
  EXPECT_NE(postings(*store_), wanted());
  finish(*one);
  EXPECT_EQ(postings(*store_), wanted());
}

TEST_F(WorkerTest, AScopeRestsBetweenItsRuns) {
  const auto one = worker("one");
  before_commit_ = [&]() -> Result<void> {
    clock_.advance(minutes(1));  // it takes its time
    return {};
  };
  finish(*one);
  take_in({}, {job("b", "3", "b1", "cv", "2026-03-20T01:00:00Z", "2026-03-20T05:00:00Z")}, {});
  clock_.advance(minutes(5));
  EXPECT_EQ(step(*one), Worker::Step::kWaiting);
  // Then it is due without any rest.
  clock_.advance(minutes(5));
  EXPECT_EQ(step(*one), Worker::Step::kAllocated);
}

TEST_F(WorkerTest, OnceEndsWhileFactsKeepComing) {
  const auto one = worker("one", true);
  int jobs = 0;
  before_commit_ = [&]() -> Result<void> {
    const std::string name = "more " + std::to_string(++jobs);
    take_in({}, {job("a", name, "a1", "cv", "2026-03-20T01:00:00Z", "2026-03-20T05:00:00Z")}, {});
    return {};
  };
  finish(*one);
  EXPECT_LE(divided_.size(), 5u);
  before_commit_ = [] { return Result<void>(); };
  finish(*worker("two", true));
  EXPECT_EQ(postings(*store_), wanted());
}

TEST_F(WorkerTest, AFailedScopeIsGivenBackAndOthersGoOn) {
  const auto one = worker("one", true);
  int failures = 0;
  before_commit_ = [&]() -> Result<void> {
    if (failures++ % 2 == 0) return fail(ErrorCode::kIo, "a disk is full");
    return {};
  };
  for (int i = 0; i < 60; ++i) {
    step(*one);
    clock_.advance(seconds(5));
  }
  EXPECT_EQ(postings(*store_), wanted());
  EXPECT_EQ(step(*one), Worker::Step::kNothingDue);
  EXPECT_EQ(one->given_up(), 0u);
}

}  // namespace
}  // namespace pennyweight
