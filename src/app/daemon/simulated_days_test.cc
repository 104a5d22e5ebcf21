// Days of a simulated cluster under a clock that is moved by hand: whatever stops, restarts or is
// away, what is shown live at midnight is what the ledger says once the day is settled, and both
// are the truth, up to what no source saw. That is listed with its money.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <random>

#include "app/context/context.h"
#include "app/daemon/live_ledger.h"
#include "app/daemon/shared_ledger.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "ingest/schedulers/kubernetes/cluster_state.h"

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::SizeIs;

const ClusterId kSimulated("lab");
constexpr std::int64_t kCentsOfAnHour = 250;  // of one GPU
constexpr std::uint32_t kGpusOfTheNode = 8;

struct SimulatedPod {
  std::string name;
  std::uint32_t gpus = 1;
  Instant begin, end;
  milliseconds kept{0};  // how long the API lists it after its end
};

// A Kubernetes API as `serve` sees it: lists when it connects, events afterwards.
class SimulatedApi : public LiveSource {
 public:
  SimulatedApi(const std::vector<SimulatedPod>& pods, const LiveInventory& inventory, Clock& clock)
      : pods_(pods),
        clock_(clock),
        state_(
            {.cluster = kSimulated,
             .labels = {},
             .wait_for = {},
             .gpu_nodes_only = false,
             .known = {.node = [&inventory](
                                   const NodeId& name) { return inventory.node(kSimulated, name); },
                       .gpu = {},
                       .has_ended =
                           [&inventory](const WorkloadId& workload, const std::string& attempt) {
                             return inventory.has_ended(kSimulated, workload, attempt);
                           }}}) {}

  const ClusterId& cluster() const override { return kSimulated; }
  std::string kind() const override { return "simulated"; }
  bool is_ready() const override { return is_listed_; }
  bool reports_every_end() const override { return false; }
  std::map<std::string, std::uint64_t> counts() const override { return {}; }

  // `down`: nothing is heard. When it is up again, the watch goes on where it was, or (`expired`)
  // everything is listed anew.
  void set_down(bool down, bool expired = false) {
    is_down_ = down;
    if (expired) is_connected_ = false;
  }

  CollectedFacts collect() override {
    const Instant now = clock_.now();
    if (!is_down_) {
      is_connected_ ? watch(now) : list(now);
      heard_ = now;
      is_connected_ = is_listed_ = true;
    }
    if (!is_listed_) return {};
    kubernetes::Facts facts = state_.facts(heard_);
    CollectedFacts all{.holdings = std::move(facts.holdings),
                       .nodes = std::move(facts.nodes),
                       .gpus = {},
                       .outages = std::move(facts.outages),
                       .rejected = {},
                       .problems = std::move(facts.problems)};
    for (kubernetes::VanishedPod& pod : facts.vanished) {
      all.vanished.push_back({kSimulated, pod.workload, pod.attempt, pod.gone_by});
    }
    return all;
  }

 private:
  static kubernetes::Pod object_of(const SimulatedPod& pod, Instant now) {
    kubernetes::Pod object;
    object.meta = {.api_version = "v1",
                   .kind = "Pod",
                   .name = pod.name,
                   .name_space = "team",
                   .uid = "uid-" + pod.name,
                   .labels = {{"team", "nlp"}},
                   .annotations = {},
                   .owners = {},
                   .created = pod.begin,
                   .deletion = {}};
    object.node = "n1";
    object.scheduled = pod.begin;
    object.containers = {{.name = "main",
                          .image = "torch",
                          .requests = {{"nvidia.com/gpu", std::to_string(pod.gpus)}},
                          .limits = {{"nvidia.com/gpu", std::to_string(pod.gpus)}}}};
    object.phase = pod.end <= now ? "Succeeded" : "Running";
    if (pod.end <= now) object.terminated = pod.end;
    return object;
  }

  void list(Instant now) {
    kubernetes::NodeObject node;
    node.meta = {.api_version = "v1",
                 .kind = "Node",
                 .name = "n1",
                 .name_space = {},
                 .uid = "uid-n1",
                 .labels = {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"},
                            {"nvidia.com/gpu.count", std::to_string(kGpusOfTheNode)}},
                 .annotations = {},
                 .owners = {},
                 .created = *parse_instant("2026-03-01T00:00:00Z"),
                 .deletion = {}};
    node.capacity = {{"nvidia.com/gpu", std::to_string(kGpusOfTheNode)}};
    node.is_ready = true;
    state_.apply(node, now);
    std::set<std::string> uids;
    for (const SimulatedPod& pod : pods_) {
      if (pod.begin > now || now >= pod.end + pod.kept) continue;
      uids.insert("uid-" + pod.name);
      state_.apply(object_of(pod, now), now);
    }
    state_.mark_relisted("Node", "v1", {"uid-n1"}, now);
    state_.mark_relisted("Pod", "v1", uids, now);
  }

  void watch(Instant now) {
    for (const SimulatedPod& pod : pods_) {
      if (pod.begin > now || pod.end + pod.kept <= heard_) continue;
      if (pod.begin > heard_ || (pod.end > heard_ && pod.end <= now)) {
        state_.apply(object_of(pod, now), now);
      }
      if (pod.end + pod.kept <= now) state_.apply_deleted(object_of(pod, now), now);
    }
  }

  const std::vector<SimulatedPod>& pods_;
  Clock& clock_;
  kubernetes::ClusterState state_;
  bool is_down_ = false, is_connected_ = false, is_listed_ = false;
  Instant heard_;
};

class SimulatedDays : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("days_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    config_.store_path = (folder_ / "ledger.duckdb").string();
    config_.rate_card_file = "card.csv";
    auto card = RateCard::parse("gpu_model,unit,price,currency\n*,GPU-Hours,2.5,EUR\n", "card.csv");
    ASSERT_TRUE(card);
    card_ = *card;
  }
  void TearDown() override {
    kill();
    std::filesystem::remove_all(folder_);
  }

  void start() {
    shared_ = std::make_unique<SharedLedger>(config_);
    ledger_ =
        std::make_unique<LiveLedger>(config_, Catalog::built_in(), card_, *shared_, clock_, log_);
    const auto opened = ledger_->open();
    ASSERT_TRUE(opened) << opened.error().message;
    api_ = std::make_unique<SimulatedApi>(pods_, ledger_->inventory(), clock_);
    state_metrics_ = std::make_unique<StateMetricsSource>(ledger_->inventory());
    auto engine = live::Engine::open(
        {.folder = "",
         .stream = {.classification = {.cluster = kSimulated}, .timing = {}, .limits = {}},
         .state = state_metrics_.get()},
        clock_);
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = std::move(*engine);
    ledger_->begin(*engine_, *state_metrics_, {api_.get()});
  }
  // SIGKILL: nothing is written any more.
  void kill() {
    ledger_.reset();
    engine_.reset();
    api_.reset();
    shared_.reset();
  }
  // SIGTERM.
  void stop() {
    ledger_->last_cycle();
    kill();
  }

  void run_until(Instant until, milliseconds step = minutes(10)) {
    while (clock_.now() < until) {
      clock_.advance(std::min(step, until - clock_.now()));
      if (ledger_) ledger_->cycle();
    }
  }

  template <class Ask>
  auto in_ledger(const Ask& ask) {
    std::optional<decltype(ask(std::declval<Store&>()))> answer;
    const auto asked = shared_->with([&](Store& store) -> Result<void> {
      answer.emplace(ask(store));
      return {};
    });
    EXPECT_TRUE(asked) << (asked ? "" : asked.error().message);
    EXPECT_TRUE(*answer) << (*answer ? "" : answer->error().message);
    return **std::move(answer);
  }

  // In the ledger, by pod ("" is nobody).
  std::map<std::string, Money> settled(std::optional<std::string> month = {}) {
    SummaryQuery query{.group_by = {"workload"}};
    if (month) query.filters = {{"month", {*month}, false}};
    std::map<std::string, Money> costs;
    for (const SummaryRow& row : in_ledger([&](Store& store) { return store.summarise(query); })) {
      costs.emplace(name_of(row.keys[0]), row.costs.effective);
    }
    return costs;
  }
  std::vector<RejectedRow> set_aside() {
    std::vector<RejectedRow> rows;
    in_ledger([&](Store& store) -> Result<bool> {
      rows = TRY(store.rejected_rows(1000));
      return true;
    });
    return rows;
  }

  static std::string name_of(const std::string& workload) {
    return workload.empty() ? "" : workload.substr(workload.find('/') + 1);
  }
  // What the view shows as this month's, by pod.
  std::map<std::string, Money> shown_this_month() const {
    std::map<std::string, Money> costs;
    const auto view = ledger_->view();
    const LiveCluster& cluster = view->clusters.at(kSimulated);
    const auto add = [&](const WorkloadId& workload, const Money& cost) {
      const auto [at, is_new] = costs.try_emplace(name_of(workload.text()), cost);
      if (!is_new) at->second += cost;
    };
    if (cluster.today) {
      for (const LiveShare& share : cluster.today->shares) add(share.workload, *share.cost);
    }
    if (cluster.earlier) {
      for (const auto& [workload, earlier] : *cluster.earlier) add(workload, earlier.cost);
    }
    return costs;
  }
  // The true cost of a pod over [begin, end).
  static Money price(std::uint32_t gpus, milliseconds length) {
    return Money::from_ticks(
        Int128{Money::kTicksPerUnit} * kCentsOfAnHour * gpus * length.count() / (100 * 3'600'000),
        kEur);
  }

  std::filesystem::path folder_;
  Config config_ = default_config();
  RateCard card_;
  SimulatedClock clock_{*parse_instant("2026-03-04T20:00:00Z")};
  Log log_{clock_};
  std::vector<SimulatedPod> pods_;
  std::unique_ptr<SharedLedger> shared_;
  std::unique_ptr<SimulatedApi> api_;
  std::unique_ptr<StateMetricsSource> state_metrics_;
  std::unique_ptr<live::Engine> engine_;
  std::unique_ptr<LiveLedger> ledger_;
};

// Equal but for what is rounded at 10^-18: a millisecond of a GPU costs 694 million times as much.
void expect_cost(const Money& actual, const Money& expected, int line) {
  constexpr Int128 kRounded = 1'000;
  const Int128 off = actual.ticks() - expected.ticks();
  EXPECT_TRUE(-kRounded <= off && off <= kRounded)
      << "line " << line << ": " << to_text(actual.amount()) << " and not "
      << to_text(expected.amount());
}
#define EXPECT_COST(actual, expected) expect_cost(actual, expected, __LINE__)

Instant at(const char* text) { return *parse_instant(text); }

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

}  // namespace
}  // namespace pennyweight
