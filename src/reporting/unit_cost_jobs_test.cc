#include "reporting/unit_cost_jobs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/date.h"
#include "reporting/unit_cost_tables.h"

namespace pennyweight {
namespace {

const ClusterId kCluster("c");

FactId fact(std::uint64_t number) { return FactId{{.high = 1, .low = number}}; }

Interval hours(int begin, int end) {
  const Instant zero = *parse_instant("2026-03-01T00:00:00Z");
  return *Interval::of(zero + std::chrono::hours(begin), zero + std::chrono::hours(end));
}

Holding attempt(std::uint64_t id, const char* workload, const char* number,
                std::initializer_list<std::pair<const char*, const char*>> labels) {
  Holding held(kCluster, WorkloadId(workload), hours(0, 1), InPool{{}, 1});
  held.id = fact(id);
  held.attempt = number;
  for (const auto& [key, value] : labels) EXPECT_TRUE(held.labels.set(key, value));
  return held;
}

Posting posting(std::uint64_t holding, const char* workload, std::int64_t units,
                PostingKind kind = PostingKind::kUsed, Component component = Component::kGpu) {
  Costs costs = Costs::zero(kUsd);
  costs.effective = Money::from_units(units, kUsd);
  return Posting{.charge = fact(1000),
                 .kind = kind,
                 .component = component,
                 .interval = hours(0, 1),
                 .day = *parse_date("2026-03-01"),
                 .node = NodeId("n"),
                 .gpu = GpuId(""),
                 .workload = WorkloadId(workload),
                 .holding = holding == 0 ? std::optional<FactId>() : fact(holding),
                 .weight = 1,
                 .costs = costs,
                 .gpu_time = GpuTime::of(10),
                 .memory_time = {},
                 .observed_time = {}};
}

const JobCosts::FindHolding kNone = [](const FactId&) { return std::nullopt; };

TEST(AttemptEnd, AsTheSourceSays) {
  struct Case {
    const char* key;
    const char* state;
    AttemptEnd want;
  };
  using enum AttemptEnd;
  const Case cases[] = {
      {"state", "COMPLETED", kUseful},
      {"state", "FAILED", kLost},
      {"state", "CANCELLED by 1000", kLost},
      {"state", "CANCELLED", kLost},
      {"state", "TIMEOUT", kLost},
      {"state", "NODE_FAIL", kLost},
      {"state", "REQUEUED", kLost},
      {"state", "PREEMPTED", kLost},
      {"state", "OUT_OF_MEMORY", kLost},
      {"phase", "Succeeded", kUseful},
      {"phase", "Failed", kLost},
      {"phase", "Unknown", kUnknown},
      {"state", "RUNNING", kUnknown},  // it ended, and this is what was read before
      {"state", "", kUnknown},
      {"state", "completed", kUnknown},
      {"colour", "blue", kUnknown},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(attempt_end(attempt(1, "1", "", {{c.key, c.state}})), c.want) << c.state;
  }
  Holding running = attempt(1, "1", "", {{"state", "COMPLETED"}});
  running.ended = false;
  EXPECT_EQ(attempt_end(running), kRunning);
}

TEST(JobCosts, AllAttemptsUsefulAndLost) {
  JobCosts costs(kNone);
  costs.add(attempt(1, "100", "a", {{"state", "NODE_FAIL"}, {"account", "nlp"}, {"user", "ann"}}));
  costs.add(attempt(2, "100", "b", {{"state", "REQUEUED"}, {"account", "nlp"}, {"user", "ann"}}));
  costs.add(attempt(3, "100", "c/gpu", {{"state", "COMPLETED"}, {"account", "nlp"}}));
  costs.add(attempt(4, "100", "c/shard", {{"state", "COMPLETED"}, {"account", "nlp"}}));
  costs.add(kCluster, posting(1, "100", 5));
  costs.add(kCluster, posting(2, "100", 7));
  costs.add(kCluster, posting(3, "100", 20));
  costs.add(kCluster, posting(3, "100", 3, PostingKind::kHeldIdle, Component::kCpu));
  costs.add(kCluster, posting(4, "100", 1));
  costs.add(kCluster, posting(0, "", 99, PostingKind::kUnallocated));
  costs.add(kCluster, posting(0, "(team=nlp)", 9, PostingKind::kUnallocated));
  const auto reports = costs.report();
  ASSERT_EQ(reports.size(), 1U);
  ASSERT_EQ(reports[0].rows.size(), 1U);
  const JobCostRow& job = reports[0].rows[0];
  EXPECT_EQ(job.job, "100");
  EXPECT_EQ(job.group, "nlp");
  EXPECT_EQ(job.user, "ann");
  EXPECT_EQ(job.sums(AttemptEnd::kLost).effective, Money::from_units(12, kUsd));
  EXPECT_EQ(job.sums(AttemptEnd::kLost).attempts, 2U);
  EXPECT_EQ(job.sums(AttemptEnd::kUseful).effective, Money::from_units(24, kUsd));
  EXPECT_EQ(job.sums(AttemptEnd::kUseful).attempts, 1U) << "one attempt on GPUs and shards";
  EXPECT_EQ(job.sums(AttemptEnd::kUseful).gpu_time.count(), 20U) << "not the CPU's";
  EXPECT_EQ(job.total().attempts, 3U);
}

TEST(JobCosts, PodsOfAJobAreItsAttempts) {
  JobCosts costs([](const FactId& id) -> std::optional<Holding> {
    if (id != fact(2)) return std::nullopt;
    return attempt(2, "ml/train-x2", "uid2",
                   {{"namespace", "ml"}, {"job", "train"}, {"phase", "Succeeded"}});
  });
  costs.add(attempt(1, "ml/train-x1", "uid1",
                    {{"namespace", "ml"}, {"job", "train"}, {"phase", "Failed"}}));
  costs.add(kCluster, posting(1, "ml/train-x1", 5));
  costs.add(kCluster, posting(2, "ml/train-x2", 6));
  costs.add(kCluster, posting(3, "ml/gone", 7));
  const auto reports = costs.report();
  ASSERT_EQ(reports.at(0).rows.size(), 2U);
  const JobCostRow& train = reports[0].rows[0];
  EXPECT_EQ(train.job, "ml/train");
  EXPECT_EQ(train.total().attempts, 2U);
  EXPECT_EQ(train.sums(AttemptEnd::kLost).effective, Money::from_units(5, kUsd));
  EXPECT_EQ(reports[0].rows[1].job, kOtherWorkloads);
  EXPECT_EQ(reports[0].rows[1].sums(AttemptEnd::kUnknown).effective, Money::from_units(7, kUsd));

  const auto tables = job_cost_tables(
      reports, {.period_label = "2026-03", .by = "", .per = {}, .digits = 18, .top = 1});
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].rows.size(), 1U);
  const std::string json = render_json(tables);
  EXPECT_NE(json.find("\"useful_cost\": \"6\", \"lost_cost\": \"5\", \"running_cost\": null"),
            std::string::npos)
      << json;
}

RC_GTEST_PROP(JobCosts, RowsAddUpToWhatHoldersWereCharged, ()) {
  static const char* const kStates[] = {"COMPLETED", "FAILED", "RUNNING", "what"};
  static const char* const kWorkloads[] = {"1", "2", "n/p"};
  JobCosts costs(kNone);
  for (std::uint64_t i = 1; i <= 6; ++i) {
    Holding held = attempt(i, kWorkloads[*rc::gen::inRange(0, 3)], std::to_string(i).c_str(),
                           {{"state", kStates[*rc::gen::inRange(0, 4)]}});
    held.ended = *rc::gen::arbitrary<bool>();
    costs.add(held);
  }
  Money total = Money::zero(kUsd);
  const int postings = *rc::gen::inRange(1, 40);
  for (int i = 0; i < postings; ++i) {
    const auto each =
        posting(*rc::gen::inRange<std::uint64_t>(0, 9), kWorkloads[*rc::gen::inRange(0, 3)],
                *rc::gen::inRange<std::int64_t>(-20, 100));
    total += each.costs.effective;
    costs.add(kCluster, each);
  }
  for (const JobCostReport& report : costs.report()) {
    Money sum = Money::zero(kUsd);
    for (const JobCostRow& row : report.rows) sum += row.total().effective;
    RC_ASSERT(sum == total);
    RC_ASSERT(report.total.total().effective == total);
  }
}

}  // namespace
}  // namespace pennyweight
