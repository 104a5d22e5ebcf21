// What every store of the ledger promises about runs, postings and their sums (ledger/store.h),
// checked for each store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "ledger/store_rules.h"
#include "testing/store_contract/stores.h"

namespace pennyweight {
namespace {

using namespace sample;
using ::testing::IsEmpty;

class RunContract : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, RunContract, every_store(), store_name);

TEST_P(RunContract, ARunReplacesTheOneBefore) {
  const Charge line = charge("i-1", 1);
  import_charges(*store_, {line});
  const FactId id{content_hash(line)};
  const pennyweight::Run first = keep_run(*store_, run(), {posting(id, "w", costs(1))});
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(first.postings, 1u);
  EXPECT_TRUE(first.current);
  const pennyweight::Run other =
      keep_run(*store_, run("openb"), {posting({{8, 8}}, "w", costs(9))});
  EXPECT_EQ(other.number, 1u);
  const pennyweight::Run second =
      keep_run(*store_, run(), {posting(id, "w", costs(1)), posting(id, "", Costs::zero(kUsd))});
  EXPECT_EQ(second.number, 2u);
  EXPECT_NE(second.postings_digest, first.postings_digest);

  const std::vector<pennyweight::Run> runs = must(store_->runs());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].scope.cluster.text(), "openb");
  EXPECT_FALSE(runs[1].current);
  EXPECT_TRUE(runs[2].current);
  EXPECT_EQ(runs[1].postings_digest, first.postings_digest);
  EXPECT_EQ(runs[2].policy, "default");
  EXPECT_EQ(runs[2].policy_version, run().policy_version);
  EXPECT_EQ(runs[2].catalog_version, run().catalog_version);
  EXPECT_EQ(runs[2].time_zone, "UTC");
  EXPECT_EQ(runs[2].program_version, "0.1.0");
  EXPECT_EQ(runs[2].at, run().at);
  EXPECT_EQ(must(store_->postings_of(id)).size(), 2u);
  EXPECT_EQ(must(store_->overview()).postings, 3u);
}

TEST_P(RunContract, TheSameRunAgainChangesNothing) {
  std::vector<Posting> postings;
  for (int i = 0; i < 100; ++i) postings.push_back(posting({{1, 1}}, std::to_string(i), costs(i)));
  std::vector<WorkloadDimensions> dimensions = {{WorkloadId("1"), labels({{"team", "a"}})},
                                                {WorkloadId("2"), labels({{"team", "b"}})}};
  const pennyweight::Run first = keep_run(*store_, run(), postings, dimensions);
  std::ranges::shuffle(postings, std::mt19937(3));
  std::ranges::reverse(dimensions);
  pennyweight::Run later = run();
  later.at += std::chrono::hours(5);
  const pennyweight::Run again = keep_run(*store_, later, postings, dimensions);
  EXPECT_EQ(again.number, first.number);
  EXPECT_EQ(again.at, first.at);
  EXPECT_EQ(again.postings_digest, first.postings_digest);
  EXPECT_EQ(must(store_->runs()).size(), 1u);
  // Any other change makes a new run.
  pennyweight::Run changed = run();
  changed.policy_version = {9, 9};
  EXPECT_EQ(keep_run(*store_, changed, postings, dimensions).number, 2u);
  changed.time_zone = "Europe/Berlin";
  EXPECT_EQ(keep_run(*store_, changed, postings, dimensions).number, 3u);
  EXPECT_EQ(keep_run(*store_, changed, postings, {}).number, 4u);
  postings.pop_back();
  EXPECT_EQ(keep_run(*store_, changed, postings, {}).number, 5u);
}

TEST_P(RunContract, DimensionsOfAWorkloadMustAgree) {
  const auto session = must(store_->begin_run(run()));
  const WorkloadDimensions one = {WorkloadId("1"), labels({{"team", "a"}})};
  const WorkloadDimensions other = {WorkloadId("1"), labels({{"team", "b"}})};
  EXPECT_TRUE(session->append_dimensions(std::vector{one, one}).has_value());
  EXPECT_FALSE(session->append_dimensions(std::vector{other}).has_value());
}

TEST_P(RunContract, EveryFieldOfAPostingComesBackInOrder) {
  const FactId id{{~0ull, ~0ull}};
  Posting full = posting(id, "ml/träin", costs(-5));
  full.kind = PostingKind::kHeldIdle;
  full.component = Component::kMemory;
  full.gpu = GpuId("GPU-1");
  full.holding = FactId{{7, 8}};
  full.weight = static_cast<Weight>(kInt128Max);
  full.costs.billed = Money::from_ticks(-Decimal::kTicksMax, kUsd);
  full.gpu_time = GpuTime::of(static_cast<UInt128>(kInt128Max));
  full.memory_time = {};
  full.observed_time = full.gpu_time;
  full.day = std::chrono::sys_days(std::chrono::year(2026) / 3 / 3);  // a local day
  std::vector<Posting> postings = {full};
  for (int i = 0; i < 40; ++i) {
    Posting some = posting(id, i % 3 == 0 ? "" : "w" + std::to_string(i % 4), costs(i % 5),
                           i % 2 == 0 ? "2026-03-04" : "2026-03-05");
    // What is_larger() takes for equal, and what it does not.
    const Int128 digits = Int128{i % 7} * 250'000 - (i % 3 == 0 ? 0 : 1);
    some.costs.effective = Money::from_ticks(
        (i % 2 == 0 ? 1 : -1) * (Int128{i % 5} * Decimal::kTicksPerUnit + digits), kUsd);
    some.component = static_cast<Component>(i % 4);
    some.kind = static_cast<PostingKind>(i % 7);
    postings.push_back(some);
  }
  keep_run(*store_, run(), postings);
  std::ranges::sort(postings,
                    [](const Posting& a, const Posting& b) { return comes_before(a, b); });
  EXPECT_EQ(must(store_->postings_of(id)), postings);
  std::ranges::sort(postings, is_larger);
  EXPECT_EQ(must(store_->largest_postings({}, 1000)), postings);
  EXPECT_EQ(must(store_->largest_postings({}, 10, 5)),
            (std::vector<Posting>(postings.begin() + 5, postings.begin() + 15)));
  EXPECT_EQ(must(store_->largest_postings({}, 10, postings.size() - 1)),
            (std::vector<Posting>(postings.end() - 1, postings.end())));
  EXPECT_THAT(must(store_->largest_postings({}, 10, 1000)), IsEmpty());
  postings.resize(7, full);
  EXPECT_EQ(must(store_->largest_postings({}, 7)), postings);
  EXPECT_THAT(must(store_->postings_of(FactId{{1, 1}})), IsEmpty());
}

TEST_P(RunContract, SummariesAddUp) {
  Charge line = charge("i-1", 10);
  line.service_name = "EC2";
  import_charges(*store_, {line});
  const FactId id{content_hash(line)};
  keep_run(*store_, run(),
           {posting(id, "a", costs(1)), posting(id, "b", costs(2), "2026-03-09"),
            posting(id, "c", costs(4)), posting(id, "", costs(8))},
           {{WorkloadId("a"), labels({{"team", "nlp"}})},
            {WorkloadId("b"), labels({{"team", "nlp"}})},
            {WorkloadId("c"), labels({{"team", "O'Brien \"x\"; DROP TABLE postings; --"}})}});
  const auto ask = [&](const SummaryQuery& query) {
    std::string text;
    for (const SummaryRow& row : must(store_->summarise(query))) {
      if (row.bucket) text += to_text(Instant(*row.bucket)).substr(0, 10) + " ";
      for (const std::string& key : row.keys) text += key + "|";
      text += to_text(row.costs.billed.amount()) + "; ";
    }
    return text;
  };
  EXPECT_EQ(ask({}), "15; ");
  EXPECT_EQ(ask({.group_by = {"team"}}), "|8; O'Brien \"x\"; DROP TABLE postings; --|4; nlp|3; ");
  EXPECT_EQ(ask({.group_by = {"nonsense", "service"}}), "|EC2|15; ");
  EXPECT_EQ(ask({.group_by = {"x' OR '1'='1"}}), "|15; ");
  EXPECT_EQ(ask({.group_by = {"team", "team", "workload"}, .filters = {{"team", {"nlp"}, false}}}),
            "nlp|nlp|a|1; nlp|nlp|b|2; ");
  EXPECT_EQ(ask({.filters = {{"team", {"nlp", ""}, true}}}), "4; ");
  EXPECT_EQ(ask({.filters = {{"team", {"') OR true --"}, false}}}), "");
  EXPECT_EQ(ask({.filters = {{"team", {}, false}}}), "");
  EXPECT_EQ(ask({.filters = {{"team", {}, true}}}), "15; ");
  EXPECT_EQ(ask({.bucket = TimeBucket::kWeek}), "2026-03-02 13; 2026-03-09 2; ");
  EXPECT_EQ(ask({.bucket = TimeBucket::kMonth, .group_by = {"kind"}}),
            "2026-03-01 unallocated|8; 2026-03-01 used|7; ");
  EXPECT_EQ(ask({.first_day = std::chrono::sys_days(std::chrono::year(2026) / 3 / 5)}), "2; ");
  EXPECT_EQ(ask({.last_day = std::chrono::sys_days(std::chrono::year(2026) / 3 / 4),
                 .bucket = TimeBucket::kDay}),
            "2026-03-04 13; ");
  EXPECT_EQ(ask({.group_by = {"charge"}}), to_text(id) + "|15; ");
  EXPECT_EQ(ask({.group_by = {"cluster", "month", "category", "resource", "currency"}}),
            "philly|2026-03|Usage|i-1|USD|15; ");

  const SummaryRow all = must(store_->summarise({}))[0];
  EXPECT_EQ(all.postings, 4u);
  EXPECT_EQ(all.gpu_time, GpuTime::of(3000));
  EXPECT_EQ(all.idle_time, GpuTime::of(1000));
  EXPECT_EQ(all.memory_time, MemoryTime::of(UInt128{4} << 100));
  EXPECT_EQ(all.costs, costs(1).operator+=(costs(2)).operator+=(costs(4)).operator+=(costs(8)));
}

TEST_P(RunContract, CurrenciesAreNeverMixed) {
  keep_run(*store_, run(),
           {posting({{1, 1}}, "a", costs(1)), posting({{2, 2}}, "a", costs(2, kEur))});
  const std::vector<SummaryRow> rows = must(store_->summarise({.group_by = {"workload"}}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].costs, costs(2, kEur));
  EXPECT_EQ(rows[1].costs, costs(1));
}

TEST_P(RunContract, ReconcileIsExact) {
  const Charge good = charge("i-1", 10), off = charge("i-2", 20), unposted = charge("i-3", 30);
  Charge euro = charge("i-4", 40);
  euro.costs = costs(40, kEur);
  import_charges(*store_, {good, off, unposted, euro});
  const auto id = [](const Charge& line) { return FactId{content_hash(line)}; };
  Costs rest = costs(10);
  rest.billed = rest.billed - Money::from_units(4, kUsd);
  Costs part = Costs::zero(kUsd);
  part.billed = Money::from_units(4, kUsd);
  Costs wrong = costs(20);
  wrong.contracted += Money::from_ticks(1, kUsd);
  keep_run(*store_, run(),
           {posting(id(good), "a", part), posting(id(good), "b", rest),
            posting(id(off), "a", wrong), posting(id(euro), "a", costs(40))});
  std::map<std::string, std::pair<bool, std::uint64_t>> seen;
  for (const LineCheck& line : lines_of(*store_)) {
    seen[line.charge.resource_id] = {line.exact(), line.postings};
    if (line.charge.resource_id == "i-1") {
      EXPECT_EQ(line.posted, line.charge.costs);
    }
    if (line.charge.resource_id == "i-4") {
      EXPECT_EQ(line.posted, Costs::zero(kUsd));
    }
  }
  using Line = std::pair<bool, std::uint64_t>;
  EXPECT_EQ(seen["i-1"], Line(true, 2));
  EXPECT_EQ(seen["i-2"], Line(false, 1));
  EXPECT_EQ(seen["i-3"], Line(false, 0));
  EXPECT_EQ(seen["i-4"], Line(false, 1));
  EXPECT_EQ(lines_of(*store_, true).size(), 3u);
  EXPECT_EQ(lines_of(*store_, true, "2026-04").size(), 0u);

  const auto totals = totals_of(*store_, "2026-03");
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].billed_lines, costs(40, kEur));
  EXPECT_EQ(totals[0].posted, Costs::zero(kEur));
  EXPECT_EQ(totals[1].lines, 3u);
  EXPECT_EQ(totals[1].lines_off, 2u);
  EXPECT_EQ(totals[1].lines_unposted, 1u);
  EXPECT_EQ(totals[1].billed_lines.billed, Money::from_units(60, kUsd));
  EXPECT_EQ(totals[1].posted.billed, Money::from_units(30, kUsd));
}

// The postings of a run for one charge: a few holders, one of them without dimensions.
std::vector<Posting> postings_of_charge(std::uint64_t charge, int units) {
  const FactId id{{charge, charge}};
  std::vector<Posting> made;
  for (int i = 0; i < 40; ++i) {
    made.push_back(posting(id, "w" + std::to_string((charge + std::uint64_t(i)) % 7),
                           costs(units + i), i % 2 == 0 ? "2026-03-04" : "2026-03-05"));
  }
  made.push_back(posting(id, "", costs(1)));
  return made;
}

std::vector<WorkloadDimensions> dimensions_of_postings(const std::vector<Posting>& postings) {
  std::set<WorkloadId> workloads;
  for (const Posting& posting : postings) {
    if (!posting.workload.empty()) workloads.insert(posting.workload);
  }
  std::vector<WorkloadDimensions> made;
  for (const WorkloadId& workload : workloads) {
    made.push_back({workload, workload.text() == "w3"
                                  ? Labels()
                                  : labels({{"team", workload.text() + "'s"}, {"user", ""}})});
  }
  return made;
}

TEST_P(RunContract, AnIncrementalRunIsTheFullRun) {
  std::mt19937 random(11);
  const auto other = fresh("other.duckdb");
  std::vector<int> units(12, 1);  // of each charge or transfer: the store does not distinguish them
  const auto all = [&] {
    std::vector<Posting> postings;
    for (std::uint64_t charge = 0; charge < units.size(); ++charge) {
      if (units[charge] == 0) continue;
      std::ranges::copy(postings_of_charge(charge, units[charge]), std::back_inserter(postings));
    }
    return postings;
  };
  const auto first = all();
  keep_run(*store_, run(), first, dimensions_of_postings(first));
  keep_run(*store_, run("openb"), first, dimensions_of_postings(first));  // stays as it is
  keep_run(*other, run(), first, dimensions_of_postings(first));
  keep_run(*other, run("openb"), first, dimensions_of_postings(first));
  for (int round = 0; round < 6; ++round) {
    std::vector<FactId> changed = {FactId{{99, 99}}};  // one that was never posted
    std::vector<Posting> appended;
    for (std::uint64_t charge = 0; charge < units.size(); ++charge) {
      if (random() % 3 != 0) continue;
      units[charge] = static_cast<int>(random() % 4);  // 0: nothing is posted any more
      changed.push_back(FactId{{charge, charge}});
      if (units[charge] == 0) continue;
      std::ranges::copy(postings_of_charge(charge, units[charge]), std::back_inserter(appended));
    }
    auto session = must(store_->begin_run(run()));
    const bool append_first = round % 2 == 0;
    if (append_first) must(session->append_postings(appended));
    must(session->keep_previous_except(changed));
    if (!append_first) must(session->append_postings(appended));
    must(session->append_dimensions(dimensions_of_postings(appended)));
    const pennyweight::Run incremental = must(session->commit());
    session.reset();
    const auto whole = all();
    const pennyweight::Run full = keep_run(*other, run(), whole, dimensions_of_postings(whole));
    EXPECT_EQ(incremental.postings_digest, full.postings_digest);
    EXPECT_EQ(incremental.postings, full.postings);
    EXPECT_EQ(incremental.number, full.number);
    const Scope scope = run().scope;
    EXPECT_EQ(postings_in(*store_, scope), postings_in(*other, scope));
    EXPECT_EQ(postings_in(*store_, scope).size(), whole.size());
    EXPECT_EQ(must(store_->dimensions_of(scope)), must(other->dimensions_of(scope)));
    EXPECT_EQ(must(store_->summarise({.group_by = {"cluster", "team", "charge"}})),
              must(other->summarise({.group_by = {"cluster", "team", "charge"}})));
    // The full run adds nothing to the incremental one: the dimensions are the same, too.
    EXPECT_EQ(keep_run(*store_, run(), whole, dimensions_of_postings(whole)).number,
              incremental.number);
  }
}

TEST_P(RunContract, AWholeRunMayBeKept) {
  const auto postings = postings_of_charge(1, 5);
  const pennyweight::Run first =
      keep_run(*store_, run(), postings, dimensions_of_postings(postings));
  const auto session = must(store_->begin_run(run()));
  must(session->keep_previous_except({}));
  EXPECT_EQ(must(session->commit()).number, first.number);
  EXPECT_EQ(must(store_->runs()).size(), 1u);
}

TEST_P(RunContract, OnlyARunUnderTheSameRulesIsKept) {
  EXPECT_FALSE(must(store_->begin_run(run()))->keep_previous_except({}).has_value());
  keep_run(*store_, run("openb"), postings_of_charge(1, 5));
  EXPECT_FALSE(must(store_->begin_run(run()))->keep_previous_except({}).has_value());
  keep_run(*store_, run(), postings_of_charge(1, 5));
  pennyweight::Run changed = run();
  changed.policy_version = {9, 9};
  EXPECT_FALSE(must(store_->begin_run(changed))->keep_previous_except({}).has_value());
  changed = run();
  changed.catalog_version = {9, 9};
  EXPECT_FALSE(must(store_->begin_run(changed))->keep_previous_except({}).has_value());
  changed = run();
  changed.time_zone = "Europe/Berlin";
  EXPECT_FALSE(must(store_->begin_run(changed))->keep_previous_except({}).has_value());
  EXPECT_TRUE(must(store_->begin_run(run()))->keep_previous_except({}).has_value());
}

TEST_P(RunContract, APostingsScanIsOfTheCurrentRunInOrder) {
  const Scope scope = run().scope;
  EXPECT_THAT(postings_in(*store_, scope), IsEmpty());
  EXPECT_THAT(must(store_->dimensions_of(scope)), IsEmpty());
  keep_run(*store_, run(), postings_of_charge(3, 9));
  std::vector<Posting> want;
  for (const std::uint64_t charge : {5u, 1u, 2u}) {
    std::ranges::copy(postings_of_charge(charge, 1), std::back_inserter(want));
  }
  keep_run(*store_, run(), want, dimensions_of_postings(want));
  keep_run(*store_, run("openb"), postings_of_charge(4, 1));
  std::ranges::sort(want, [](const Posting& a, const Posting& b) { return comes_before(a, b); });
  EXPECT_EQ(postings_in(*store_, scope), want);
  EXPECT_EQ(must(store_->dimensions_of(scope)), dimensions_of_postings(want));
}

TEST_P(RunContract, TransfersAddUpToZeroAndAreNobodysBillLine) {
  const Charge line = charge("i-1", 10);
  import_charges(*store_, {line});
  const FactId id{content_hash(line)}, moved{{7, 7}}, other{{8, 8}}, euro{{9, 9}};
  const auto transfer = [](const FactId& of, const std::string& owner, Costs amounts) {
    Posting made = posting(of, owner, amounts);
    made.kind = PostingKind::kUnallocated;
    made.gpu_time = {};
    made.memory_time = {};
    made.observed_time = {};
    return made;
  };
  const auto minus = [](const Costs& amounts) {
    Costs negative = Costs::zero(amounts.currency());
    negative.billed = -amounts.billed;
    negative.effective = -amounts.effective;
    negative.list = -amounts.list;
    negative.contracted = -amounts.contracted;
    return negative;
  };
  std::vector<Posting> postings = {posting(id, "", costs(10)),
                                   transfer(moved, "", minus(costs(4))),
                                   transfer(moved, "(team=nlp)", costs(4)),
                                   transfer(other, "", minus(costs(1))),
                                   transfer(other, "(team=cv)", costs(1)),
                                   transfer(euro, "", minus(costs(1, kEur))),
                                   transfer(euro, "(team=cv)", costs(1, kEur))};
  keep_run(*store_, run(), postings);
  auto totals = totals_of(*store_, "2026-03");
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].lines, 0u);  // in euros
  EXPECT_EQ(totals[0].transfers, 1u);
  EXPECT_EQ(totals[1].lines_off, 0u);
  EXPECT_EQ(totals[1].posted, costs(10));
  EXPECT_EQ(totals[1].transfers, 2u);
  EXPECT_EQ(totals[1].transfers_off, 0u);
  EXPECT_EQ(totals_of(*store_).at(1).transfers, 2u);
  EXPECT_EQ(must(store_->overview()).postings, 7u);
  // What each owner pays includes the transfers; time does not move.
  const auto rows = must(store_->summarise({.group_by = {"workload", "currency"}}));
  std::map<std::string, Costs> by_workload;
  for (const SummaryRow& row : rows) {
    if (row.keys[1] == "USD") by_workload.emplace(row.keys[0], row.costs);
  }
  EXPECT_EQ(by_workload.at("").billed, Money::from_units(5, kUsd));
  EXPECT_EQ(by_workload.at("(team=nlp)"), costs(4));
  EXPECT_EQ(must(store_->summarise({.filters = {{"currency", {"USD"}}}}))[0].idle_time,
            GpuTime::of(1000));

  // One transfer is off, in one cost, by the smallest possible amount.
  postings[2].costs.list += Money::from_ticks(1, kUsd);
  keep_run(*store_, run(), postings);
  totals = totals_of(*store_, "2026-03");
  EXPECT_EQ(totals.at(1).transfers_off, 1u);
  EXPECT_EQ(totals.at(1).lines_off, 0u);
  EXPECT_THAT(totals_of(*store_, "2026-04"), IsEmpty());
  // Two errors that cancel out are still two errors.
  postings[4].costs.list = postings[4].costs.list - Money::from_ticks(1, kUsd);
  keep_run(*store_, run(), postings);
  EXPECT_EQ(totals_of(*store_).at(1).transfers_off, 2u);
}

TEST_P(RunContract, TimeIsHeldByHoldersAndIdleInBuckets) {
  std::vector<Posting> postings;
  for (int i = 0; i < 7; ++i) {
    for (const char* workload : {"", "w"}) {
      Posting made = posting({{1, 1}}, workload, costs(1));
      made.kind = static_cast<PostingKind>(i);
      postings.push_back(made);
    }
  }
  Posting of_cpu = posting({{1, 1}}, "w", costs(1));
  of_cpu.component = Component::kCpu;
  postings.push_back(of_cpu);
  keep_run(*store_, run(), postings);
  const SummaryRow all = must(store_->summarise({}))[0];
  EXPECT_EQ(all.gpu_time, GpuTime::of(2000));       // used and idle, of a workload
  EXPECT_EQ(all.observed_time, GpuTime::of(1400));  // of these
  EXPECT_EQ(all.idle_time, GpuTime::of(12'000));
}

}  // namespace
}  // namespace pennyweight
