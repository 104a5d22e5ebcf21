// A simulated Kubernetes cluster, and `serve`'s ledger thread watching it, under a clock that is
// moved by hand: for tests of whole days.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/context/context.h"
#include "app/daemon/live_ledger.h"
#include "app/daemon/shared_ledger.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "ingest/schedulers/kubernetes/cluster_state.h"

namespace pennyweight {

inline const ClusterId kSimulated("lab");
inline constexpr std::int64_t kCentsOfAnHour = 250;  // of one GPU
inline constexpr std::uint32_t kGpusOfANode = 8;

struct SimulatedPod {
  std::string name;
  std::uint32_t gpus = 1;
  Instant begin, end;
  std::chrono::milliseconds kept{0};  // how long the API lists it after its end
  std::string node = "n1";
};

// A Kubernetes API as `serve` sees it: lists when it connects, events afterwards.
class SimulatedApi : public LiveSource {
 public:
  // All outlive it.
  SimulatedApi(const std::vector<SimulatedPod>& pods, const std::vector<std::string>& nodes,
               const LiveInventory& inventory, Clock& clock)
      : pods_(pods),
        nodes_(nodes),
        clock_(clock),
        state_(
            {.cluster = kSimulated,
             .labels = {},
             .wait_for = {},
             .gpu_nodes_only = false,
             .gives_readings = true,
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
                       .readings = std::move(facts.readings),
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
  // Pods of a StatefulSet follow one another under one name.
  static std::string uid_of(const SimulatedPod& pod) {
    return "uid-" + pod.name + "-" + std::to_string(unix_ms(pod.begin));
  }
  static kubernetes::Pod object_of(const SimulatedPod& pod, Instant now) {
    kubernetes::Pod object;
    object.meta = {.api_version = "v1",
                   .kind = "Pod",
                   .name = pod.name,
                   .name_space = "team",
                   .uid = uid_of(pod),
                   .labels = {{"team", "nlp"}},
                   .annotations = {},
                   .owners = {},
                   .created = pod.begin,
                   .deletion = {}};
    object.node = pod.node;
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
    std::set<std::string> node_uids;
    for (const std::string& name : nodes_) {
      node_uids.insert("uid-" + name);
      kubernetes::NodeObject node;
      node.meta = {.api_version = "v1",
                   .kind = "Node",
                   .name = name,
                   .name_space = {},
                   .uid = "uid-" + name,
                   .labels = {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"},
                              {"nvidia.com/gpu.count", std::to_string(kGpusOfANode)}},
                   .annotations = {},
                   .owners = {},
                   .created = *parse_instant("2026-03-01T00:00:00Z"),
                   .deletion = {}};
      node.capacity = {{"nvidia.com/gpu", std::to_string(kGpusOfANode)}};
      node.is_ready = true;
      state_.apply(node, now);
    }
    std::set<std::string> uids;
    for (const SimulatedPod& pod : pods_) {
      if (pod.begin > now || now >= pod.end + pod.kept) continue;
      uids.insert(uid_of(pod));
      state_.apply(object_of(pod, now), now);
    }
    state_.mark_relisted("Node", "v1", node_uids, now);
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
  const std::vector<std::string>& nodes_;
  Clock& clock_;
  kubernetes::ClusterState state_;
  bool is_down_ = false, is_connected_ = false, is_listed_ = false;
  Instant heard_;
};

class SimulatedDays : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("days_") + info->name() + std::to_string(::getpid()));
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
    api_ = std::make_unique<SimulatedApi>(pods_, nodes_, ledger_->inventory(), clock_);
    state_metrics_ = std::make_unique<StateMetricsSource>(ledger_->inventory());
    auto engine = live::Engine::open(
        {.folder = engine_folder_,
         .stream = {.classification = {.cluster = kSimulated}, .timing = {}, .limits = {}},
         .state = state_metrics_.get()},
        clock_);
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = std::move(*engine);
    std::vector<LiveSource*> sources = {api_.get()};
    if (LiveSource* const other = start_other_source()) sources.push_back(other);
    ledger_->begin(*engine_, *state_metrics_, std::move(sources));
  }
  // A source beside the API; it outlives the process.
  virtual LiveSource* start_other_source() { return nullptr; }
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

  void run_until(Instant until, std::chrono::milliseconds step = std::chrono::minutes(10)) {
    while (clock_.now() < until) {
      clock_.advance(std::min(step, until - clock_.now()));
      if (ledger_) ledger_->cycle();
    }
  }

  // A scrape of a node's DCGM exporter now: a line for each card, with the pod that holds it.
  void scrape_cards(const std::vector<std::string>& pods, const std::string& node = "n1",
                    const ClusterId& cluster = kSimulated) {
    std::string body;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      body += fmt::format(
          "DCGM_FI_DEV_GPU_UTIL{{gpu=\"{1}\",UUID=\"GPU-{0}-{1}\","
          "modelName=\"NVIDIA A100-SXM4-80GB\",Hostname=\"{0}\"{2}}} 50\n",
          node, i,
          pods[i].empty() ? "" : ",namespace=\"team\",container=\"main\",pod=\"" + pods[i] + "\"");
    }
    const auto taken = engine_->ingest({.kind = live::IngestRequest::Kind::kExposition,
                                        .content_type = "text/plain; version=0.0.4",
                                        .body = body,
                                        .cluster = cluster,
                                        .scraped_at = clock_.now(),
                                        .target = {.labels = {{"instance", node}, {"job", "gpu"}}},
                                        .target_id = "gpu " + node});
    ASSERT_TRUE(taken) << taken.error().message;
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
  static Money price(std::uint32_t gpus, std::chrono::milliseconds length) {
    return Money::from_ticks(
        Int128{Money::kTicksPerUnit} * kCentsOfAnHour * gpus * length.count() / (100 * 3'600'000),
        kEur);
  }

  std::filesystem::path folder_;
  std::string engine_folder_;  // of the journal; empty: a kill loses samples
  Config config_ = default_config();
  RateCard card_;
  SimulatedClock clock_{*parse_instant("2026-03-04T20:00:00Z")};
  Log log_{clock_};
  std::vector<std::string> nodes_ = {"n1"};
  std::vector<SimulatedPod> pods_;
  std::unique_ptr<SharedLedger> shared_;
  std::unique_ptr<SimulatedApi> api_;
  std::unique_ptr<StateMetricsSource> state_metrics_;
  std::unique_ptr<live::Engine> engine_;
  std::unique_ptr<LiveLedger> ledger_;
};

// Equal but for what is rounded at 10^-18: a millisecond of a GPU costs 694 million times as much.
inline void expect_cost(const Money& actual, const Money& expected, int line) {
  constexpr Int128 kRounded = 1'000;
  const Int128 off = actual.ticks() - expected.ticks();
  EXPECT_TRUE(-kRounded <= off && off <= kRounded)
      << "line " << line << ": " << to_text(actual.amount()) << " and not "
      << to_text(expected.amount());
}
#define EXPECT_COST(actual, expected) expect_cost(actual, expected, __LINE__)

inline Instant at(const char* text) { return *parse_instant(text); }

}  // namespace pennyweight
