// What every store promises to programs that share the work on a ledger: a scope is claimed by one
// worker; a run is kept only if its worker has the newest claim and no other run has been kept
// since; and the store knows which scopes every import invalidated.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "ledger/store_rules.h"
#include "testing/store_contract/stores.h"

namespace pennyweight {
namespace {

using namespace sample;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Scope kScope = {ClusterId("philly"), "2026-03"};

ClaimRequest asked(const std::string& worker, std::uint64_t newest_known = 0,
                   const Scope& scope = kScope) {
  return {.scope = scope,
          .worker = worker,
          .at = at("2026-04-02T10:00:00Z"),
          .lease = seconds(30),
          .newest_known = newest_known};
}

WorkCompletion done_of(const WorkClaim& claim, std::uint64_t imports = 7) {
  return {.claim = claim.number,
          .scope = claim.scope,
          .run = 0,
          .inputs = {.imports = imports,
                     .lines = {1, 2},
                     .join_rules = {3, 4},
                     .elsewhere = {5, ~std::uint64_t{0}}},
          .began = at("2026-04-02T10:00:01Z"),
          .at = at("2026-04-02T10:00:02Z")};
}

std::unique_ptr<RunSession> begin(Store& store, const WorkClaim& claim,
                                  const std::string& policy = "default") {
  return must(
      store.begin_claimed_run(run(claim.scope.cluster.text(), policy), claim, done_of(claim)));
}

WorkClaim claim(Store& store, const ClaimRequest& what) {
  const auto got = must(store.claim_work(what));
  if (!got) throw std::runtime_error("somebody else has it");
  return *got;
}

class WorkContract : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, WorkContract, every_store(), store_name);

TEST_P(WorkContract, ANewLedgerHasNoWorkRecords) {
  const WorkRecords records = must(store_->work_records());
  EXPECT_EQ(records.imports, 0u);
  EXPECT_THAT(records.claims, IsEmpty());
  EXPECT_THAT(records.done, IsEmpty());
  EXPECT_THAT(records.plans, IsEmpty());
  EXPECT_THAT(must(store_->invalidated_scopes(0)), IsEmpty());
}

TEST_P(WorkContract, AScopeIsClaimedOnce) {
  const WorkClaim first = claim(*store_, asked("ann"));
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(first.scope, kScope);
  EXPECT_EQ(first.run, 0u);
  EXPECT_FALSE(must(store_->claim_work(asked("bob"))));
  // Another scope can still be claimed; claims of all scopes are numbered together.
  const WorkClaim other = claim(*store_, asked("bob", 0, {ClusterId(""), "2026-03"}));
  EXPECT_EQ(other.number, 2u);
  const WorkRecords records = must(store_->work_records());
  ASSERT_THAT(records.claims, SizeIs(2));
  EXPECT_EQ(records.claims[0].claim, other);
  EXPECT_EQ(records.claims[1].claim, first);
  EXPECT_EQ(records.claims[1].heartbeats, 0u);
  EXPECT_EQ(records.claims[1].last_heartbeat, first.at);
  EXPECT_FALSE(records.claims[1].is_over);
}

TEST_P(WorkContract, OnlyTheNewestClaimCanBeTakenOver) {
  const WorkClaim first = claim(*store_, asked("ann"));
  const WorkClaim second = claim(*store_, asked("bob", first.number));
  EXPECT_EQ(second.number, 2u);
  EXPECT_FALSE(must(store_->claim_work(asked("cy", first.number))));
  EXPECT_FALSE(must(store_->claim_work(asked("cy", 17))));
  const WorkRecords records = must(store_->work_records());
  ASSERT_THAT(records.claims, SizeIs(1));
  EXPECT_EQ(records.claims[0].claim, second);
}

TEST_P(WorkContract, HeartbeatsAreCounted) {
  const WorkClaim mine = claim(*store_, asked("ann"));
  must(store_->renew_claim(mine, mine.at + seconds(10)));
  must(store_->renew_claim(mine, mine.at + seconds(20)));
  ClaimState state = must(store_->work_records()).claims.at(0);
  EXPECT_EQ(state.heartbeats, 2u);
  EXPECT_EQ(state.last_heartbeat, mine.at + seconds(20));
  EXPECT_FALSE(state.is_over);
  // A claim that was taken over cannot be renewed or released.
  const WorkClaim next = claim(*store_, asked("bob", mine.number));
  must(store_->renew_claim(mine, mine.at + seconds(99)));
  must(store_->release_claim(mine, mine.at + seconds(99)));
  state = must(store_->work_records()).claims.at(0);
  EXPECT_EQ(state.claim, next);
  EXPECT_EQ(state.heartbeats, 0u);
  EXPECT_FALSE(state.is_over);
}

TEST_P(WorkContract, AReleasedClaimIsOver) {
  const WorkClaim mine = claim(*store_, asked("ann"));
  must(store_->release_claim(mine, mine.at + seconds(1)));
  EXPECT_TRUE(must(store_->work_records()).claims.at(0).is_over);
  EXPECT_EQ(claim(*store_, asked("bob", mine.number)).number, 2u);
}

TEST_P(WorkContract, ARunIsKeptWithItsCompletion) {
  const WorkClaim mine = claim(*store_, asked("ann"));
  auto session = begin(*store_, mine);
  must(session->append_postings(std::vector{posting({{1, 1}}, "w", costs(1))}));
  EXPECT_EQ(must(session->commit()).number, 1u);
  session.reset();
  const WorkRecords records = must(store_->work_records());
  WorkCompletion wanted = done_of(mine);
  wanted.run = 1;
  EXPECT_THAT(records.done, ElementsAre(wanted));
  EXPECT_TRUE(records.claims.at(0).is_over);
  EXPECT_EQ(must(store_->runs()).size(), 1u);
  EXPECT_EQ(claim(*store_, asked("bob", mine.number)).run, 1u);
}

TEST_P(WorkContract, ACompletionIsKeptEvenIfTheRunDidNotChange) {
  const std::vector<Posting> postings = {posting({{1, 1}}, "w", costs(1))};
  keep_run(*store_, run(), postings);
  const WorkClaim mine = claim(*store_, asked("ann"));
  EXPECT_EQ(mine.run, 1u);
  auto session = begin(*store_, mine);
  must(session->append_postings(postings));
  EXPECT_EQ(must(session->commit()).number, 1u);
  session.reset();
  EXPECT_EQ(must(store_->runs()).size(), 1u);
  EXPECT_EQ(postings_in(*store_, kScope).size(), 1u);
  const WorkRecords records = must(store_->work_records());
  ASSERT_THAT(records.done, SizeIs(1));
  EXPECT_EQ(records.done[0].run, 1u);
  EXPECT_TRUE(records.claims.at(0).is_over);
  // The next run replaces it.
  const WorkClaim next = claim(*store_, asked("bob", mine.number));
  session = begin(*store_, next, "another");
  must(session->append_postings(postings));
  EXPECT_EQ(must(session->commit()).number, 2u);
  session.reset();
  const WorkRecords later = must(store_->work_records());
  ASSERT_THAT(later.done, SizeIs(1));
  EXPECT_EQ(later.done[0].claim, next.number);
  EXPECT_EQ(later.done[0].run, 2u);
}

TEST_P(WorkContract, ARunOfAClaimThatWasTakenOverIsNotKept) {
  const WorkClaim mine = claim(*store_, asked("ann"));
  const WorkClaim theirs = claim(*store_, asked("bob", mine.number));
  auto session = begin(*store_, mine);
  must(session->append_postings(std::vector{posting({{1, 1}}, "old", costs(1))}));
  const auto refused = session->commit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("bob"));
  session.reset();
  EXPECT_THAT(must(store_->runs()), IsEmpty());
  EXPECT_THAT(must(store_->work_records()).done, IsEmpty());
  session = begin(*store_, theirs);
  must(session->append_postings(std::vector{posting({{1, 1}}, "new", costs(1))}));
  EXPECT_EQ(must(session->commit()).number, 1u);
  session.reset();
  // A worker that wakes up after that changes nothing either, whatever it commits.
  session = begin(*store_, mine);
  must(session->append_postings(std::vector{posting({{1, 1}}, "new", costs(1))}));
  EXPECT_FALSE(session->commit());
  session.reset();
  EXPECT_EQ(must(store_->runs()).size(), 1u);
  EXPECT_EQ(must(store_->work_records()).done.at(0).claim, theirs.number);
}

TEST_P(WorkContract, ARunOfOlderFactsDoesNotReplaceANewerRun) {
  const WorkClaim mine = claim(*store_, asked("ann"));
  keep_run(*store_, run(), {posting({{1, 1}}, "by hand", costs(1))});
  auto session = begin(*store_, mine);
  must(session->append_postings(std::vector{posting({{1, 1}}, "by the worker", costs(1))}));
  const auto refused = session->commit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("allocate it again"));
  session.reset();
  const auto runs = must(store_->runs());
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(postings_in(*store_, kScope).at(0).workload.text(), "by hand");
  EXPECT_THAT(must(store_->work_records()).done, IsEmpty());
}

TEST_P(WorkContract, AClosedMonthCannotBeClaimed) {
  const std::vector<Charge> lines = {charge("i-1", 1)};
  import_charges(*store_, lines);
  const WorkClaim before = claim(*store_, asked("ann"));
  std::vector<Posting> postings;
  for (const Charge& line : charges_of(*store_))
    postings.push_back(posting(line.id, "w", line.costs));
  auto session = begin(*store_, before);
  must(session->append_postings(postings));
  must(session->commit());
  session.reset();
  must(store_->close_month({.month = "2026-03",
                            .at = at("2026-04-05"),
                            .by = "ann",
                            .reason = "",
                            .last_import = 0,
                            .lines = 0,
                            .runs = 0,
                            .digest = {}}));
  const auto refused = store_->claim_work(asked("bob", before.number));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("2026-03 is closed"));
  EXPECT_FALSE(store_->begin_claimed_run(run(), before, done_of(before)));
}

TEST_P(WorkContract, ThePlanOfMoreImportsCounts) {
  WorkPlan plan{.month = "2026-03",
                .imports = 4,
                .join_rules = {1, 1},
                .began = at("2026-04-02T10:00:00Z"),
                .at = at("2026-04-02T10:00:01Z"),
                .scopes = {{ClusterId(""), 3, {5, 6}, march()},
                           {ClusterId("philly"), 2, {7, ~std::uint64_t{0}}, march()}}};
  WorkPlan other = plan;
  other.month = "2026-02";
  other.scopes.clear();
  must(store_->save_plan(plan));
  must(store_->save_plan(other));
  EXPECT_THAT(must(store_->work_records()).plans, ElementsAre(other, plan));
  WorkPlan later = plan;
  later.imports = 5;
  later.at += seconds(5);
  later.scopes.pop_back();
  must(store_->save_plan(later));
  EXPECT_THAT(must(store_->work_records()).plans, ElementsAre(other, later));
  must(store_->save_plan(plan));
  EXPECT_THAT(must(store_->work_records()).plans, ElementsAre(other, later));
}

std::vector<Invalidation> places(const std::vector<InvalidatedScope>& scopes) {
  std::vector<Invalidation> all;
  for (const InvalidatedScope& one : scopes) all.push_back(one.invalidation);
  return all;
}
Invalidation on(const char* day, InvalidationKind what = InvalidationKind::kDay) {
  return {what, ClusterId("philly"), std::chrono::floor<std::chrono::days>(at(day))};
}
const Invalidation kFleet = {InvalidationKind::kFleet, ClusterId("philly"),
                             std::chrono::sys_days()};

TEST_P(WorkContract, ImportsInvalidateTheirScopes) {
  import_charges(*store_, {charge("i-1", 1)});
  {
    const auto session = must(store_->begin_import(source("facts")));
    must(session->append_nodes(std::vector{node("n1")}));
    must(session->append_holdings(
        std::vector{holding("1", "2026-03-04T23:00:00Z", "2026-03-06T00:00:00Z")}));
    must(session->append_usages(std::vector{usage("GPU-1", "2026-03-09T12:00:00Z")}));
    must(session->append_outages(
        std::vector{outage("n1", "2026-03-11T00:00:00Z", "2026-03-11T01:00:00Z")}));
    must(session->append_corrections(std::vector{correction("c", 5)}));
    must(session->append_outcomes(std::vector{outcome("1", "2026-03-20T00:00:00Z", 3)}));
    must(session->commit());
  }
  EXPECT_EQ(must(store_->work_records()).imports, 2u);
  const std::vector<InvalidatedScope> all = must(store_->invalidated_scopes(0));
  EXPECT_THAT(places(all), ElementsAre(charge_invalidation("2026-03"), kFleet, on("2026-03-04"),
                                       on("2026-03-05"), on("2026-03-09"), on("2026-03-11"),
                                       on("2026-03-04", InvalidationKind::kCorrections)));
  EXPECT_EQ(all[0].first_import, 1u);
  EXPECT_EQ(all[1].last_import, 2u);
  EXPECT_EQ(all[1].first_imported_at, source().at);
  EXPECT_THAT(places(must(store_->invalidated_scopes(1))), SizeIs(6));
  EXPECT_THAT(must(store_->invalidated_scopes(2)), IsEmpty());
  EXPECT_THAT(must(store_->invalidated_scopes(9)), IsEmpty());
}

TEST_P(WorkContract, KnownFactsInvalidateNothing) {
  const auto import = [&](std::uint64_t util) {
    Usage seen = usage("GPU-1", "2026-03-09T12:00:00Z");
    seen.gpu_util_ppm = util;
    const auto session = must(store_->begin_import(source("facts")));
    must(session->append_gpus(std::vector{gpu("GPU-1")}));
    must(session->append_usages(std::vector{seen}));
    must(session->append_charges(std::vector{charge("i-1", 1)}));
    must(session->commit());
  };
  import(1);
  import(1);
  import(2);  // a conflict, set aside
  EXPECT_EQ(must(store_->work_records()).imports, 3u);
  EXPECT_THAT(must(store_->invalidated_scopes(0)), SizeIs(3));
  EXPECT_THAT(must(store_->invalidated_scopes(1)), IsEmpty());
  // The first and the last import of several, and when the first one came.
  const auto session = must(store_->begin_import(source("facts")));
  must(session->append_usages(std::vector{usage("GPU-1", "2026-03-09T13:00:00Z")}));
  must(session->commit());
  const std::vector<InvalidatedScope> all = must(store_->invalidated_scopes(0));
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[2].invalidation, on("2026-03-09"));
  EXPECT_EQ(all[2].first_import, 1u);
  EXPECT_EQ(all[2].last_import, 4u);
  EXPECT_EQ(must(store_->invalidated_scopes(1)).at(0).first_import, 4u);
}

TEST_P(WorkContract, RetiredLinesInvalidateTheirMonth) {
  ImportSource replacing = source();
  replacing.style = DeliveryStyle::kReplacement;
  const auto deliver = [&](const std::vector<Charge>& lines) {
    const auto session = must(store_->begin_import(replacing));
    must(session->append_charges(lines));
    return must(session->commit());
  };
  deliver({charge("a", 1), charge("b", 1)});
  EXPECT_EQ(deliver({charge("a", 1)}).restated.removed, 1u);
  EXPECT_EQ(deliver({charge("a", 1)}).restated.removed, 0u);
  const std::vector<InvalidatedScope> all = must(store_->invalidated_scopes(0));
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].invalidation, charge_invalidation("2026-03"));
  EXPECT_EQ(all[0].first_import, 1u);
  EXPECT_EQ(all[0].last_import, 2u);
}

// What only stores with servers promise: several programs at once.
class SeveralWorkers : public ::testing::TestWithParam<std::string> {
 protected:
  SeveralWorkers() : ledger_(server_address(GetParam())), store_(ledger_.open()) {}
  ServerLedger ledger_;
  std::unique_ptr<Store> store_;
};
std::vector<std::string> work_stores() {
  std::vector<std::string> found = persistent_stores();
  std::erase(found, "duckdb");
  return found;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SeveralWorkers);
INSTANTIATE_TEST_SUITE_P(Stores, SeveralWorkers, ::testing::ValuesIn(work_stores()), store_name);

TEST_P(SeveralWorkers, OneOfManyWorkersClaimsAScope) {
  constexpr int kWorkers = 4;
  std::atomic<int> got{0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < kWorkers; ++i) {
      workers.emplace_back([&, i] {
        const auto store = ledger_.open();
        got += must(store->claim_work(asked("w" + std::to_string(i)))) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(got.load(), 1);
  EXPECT_THAT(must(store_->work_records()).claims, SizeIs(1));
  EXPECT_FALSE(must(store_->work_records()).is_alone);
}

TEST_P(SeveralWorkers, ASleepingWorkerWhoseClaimWasTakenKeepsNothing) {
  const auto sleeper = ledger_.open();
  const WorkClaim mine = claim(*sleeper, asked("ann"));
  auto session = begin(*sleeper, mine);
  must(session->append_postings(std::vector{posting({{1, 1}}, "old", costs(1))}));
  const WorkClaim theirs = claim(*store_, asked("bob", mine.number));
  auto other = begin(*store_, theirs);
  must(other->append_postings(std::vector{posting({{1, 1}}, "new", costs(1))}));
  EXPECT_EQ(must(other->commit()).number, 1u);
  EXPECT_FALSE(session->commit());
  EXPECT_EQ(postings_in(*store_, kScope).at(0).workload.text(), "new");
  EXPECT_EQ(must(store_->runs()).size(), 1u);
}

}  // namespace
}  // namespace pennyweight
