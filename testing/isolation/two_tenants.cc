#include "testing/isolation/two_tenants.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "allocation/pricing/catalog.h"
#include "app/run/allocate_month.h"
#include "config/config.h"
#include "core/check.h"
#include "core/money.h"
#include "reporting/queries/ledger_month.h"
#include "testing/generate/random.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight::isolation {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::uint32_t kGpusOfANode = 4;
constexpr const char* kTeams[] = {"nlp", "vision", "ops", ""};
constexpr const char* kUsers[] = {"ana", "bo", "cy", "dee"};
constexpr const char* kProjects[] = {"search", "ads", "base"};
constexpr const char* kModels[] = {"H100", "A100-SXM4-80GB", "L4"};

Instant at(const std::string& text) {
  const auto read = parse_instant(text);
  CHECK(read.has_value(), "the times of this file are right");
  return *read;
}

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed, "two tenants") {}

  TwoLedgers make() {
    TwoLedgers made;
    made.scope = make_scope();
    scope_ = made.scope;
    make_machines(made.one);
    make_jobs(made.one);
    make_charges(made.one);
    make_usages(made.one);
    made.other = made.one;
    change_others(made);
    // Imports in another order make the same ledger.
    std::ranges::reverse(made.other.holdings);
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_.between(0, limit - 1); }
  bool is_one_of(std::uint64_t limit) { return below(limit) == 0; }
  template <class T, std::size_t kCount>
  T pick(const T (&values)[kCount]) {
    return values[below(kCount)];
  }

  std::vector<SummaryFilter> make_scope() {
    std::vector<SummaryFilter> scope;
    const std::uint64_t kind = below(6);
    if (kind <= 3) {
      std::vector<std::string> teams = {"nlp"};
      if (kind == 3) teams.emplace_back("ops");
      scope.push_back({"team", teams, false});
    }
    if (kind == 1 || kind == 4) scope.push_back({"user", {"ana"}, false});
    if (kind == 2) scope.push_back({"cluster", {"a"}, false});
    if (kind == 5) scope.push_back({"project", {"search", "ads"}, false});
    return scope;
  }

  bool is_askers(const Holding& holding) const {
    return std::ranges::all_of(scope_, [&](const SummaryFilter& filter) {
      const std::string value =
          filter.dimension == "cluster"
              ? holding.cluster.text()
              : std::string(holding.labels.find(filter.dimension).value_or(""));
      return std::ranges::find(filter.values, value) != filter.values.end();
    });
  }

  void make_machines(Facts& facts) {
    const Instant begin = at("2026-01-01");
    const std::uint64_t count = 2 + below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      const ClusterId cluster(is_one_of(3) ? "b" : "a");
      const NodeId name(fmt::format("n{}", i));
      const std::string model = pick(kModels);
      Node node{.cluster = cluster,
                .name = name,
                .provider_id = fmt::format("i-{}", i),
                .instance_type = {},
                .region = {},
                .pool = PoolId(""),
                .gpu_model = model,
                .gpu_count = kGpusOfANode,
                .cpu_milli = {},
                .memory_bytes = {},
                .from = begin,
                .to = {},
                .id = {},
                .source = {}};
      if (is_one_of(2)) {
        node.cpu_milli = 64'000;
        node.memory_bytes = std::uint64_t{512} << 30;
      }
      facts.nodes.push_back(std::move(node));
      for (std::uint32_t index = 0; index < kGpusOfANode; ++index) {
        facts.gpus.push_back({.cluster = cluster,
                              .node = name,
                              .uuid = GpuId(fmt::format("GPU-{}-{}", i, index)),
                              .index = index,
                              .model = model,
                              .memory_bytes = std::uint64_t{80} << 30,
                              .mig_instances = {},
                              .from = begin,
                              .to = {},
                              .id = {},
                              .source = {}});
      }
    }
  }

  // Each GPU of a node belongs to one job at a time, or to two halves.
  void make_jobs(Facts& facts) {
    for (std::size_t i = 0; i < facts.nodes.size(); ++i) {
      const Node& node = facts.nodes[i];
      for (std::uint32_t index = 0; index < kGpusOfANode; ++index) {
        const bool is_shared = is_one_of(3);
        for (int half = 0; half <= (is_shared ? 1 : 0); ++half) {
          std::int64_t hour = static_cast<std::int64_t>(below(200));
          for (std::uint64_t left = below(4); left > 0; --left) {
            const auto hours = static_cast<std::int64_t>(1 + below(300));
            facts.holdings.push_back(make_job(node, i, index, hour, hours, is_shared));
            hour += hours + static_cast<std::int64_t>(below(100));
          }
        }
      }
    }
  }

  Holding make_job(const Node& node, std::size_t number, std::uint32_t index, std::int64_t hour,
                   std::int64_t hours, bool is_half) {
    const Instant begin = at("2026-02-01") + std::chrono::hours(hour);
    Holding job(node.cluster, WorkloadId(fmt::format("job-{}", ++jobs_)),
                Interval(begin, begin + std::chrono::hours(hours)),
                OnGpus{{GpuId(fmt::format("GPU-{}-{}", number, index))}});
    if (is_half) {
      job.device = CardFraction{CardShare::from_units(CardShare::kUnitsPerCard / 2),
                                CardShare::from_units(CardShare::kUnitsPerCard / 2)};
    }
    if (is_one_of(2)) {
      job.cpu_milli = 1000 * (1 + below(7));
      job.memory_bytes = (1 + below(60)) << 30;
    }
    set_labels(job, pick(kTeams), pick(kUsers), pick(kProjects));
    return job;
  }

  static void set_labels(Holding& job, const std::string& team, const std::string& user,
                         const std::string& project) {
    Labels labels;
    if (!team.empty()) CHECK(labels.set("team", team).has_value(), "a short label");
    CHECK(labels.set("user", user).has_value(), "a short label");
    CHECK(labels.set("project", project).has_value(), "a short label");
    job.labels = std::move(labels);
  }

  Charge make_charge(const std::string& resource, const std::string& month, Interval during) {
    const Instant begin = at(month + "-01");
    const Money cost = Money::from_ticks(
        Int128{1 + static_cast<std::int64_t>(below(1u << 30))} * 1'000'000'007 * 1'000, kUsd);
    Charge charge(Interval(begin, at(month_after(month) + "-01")), during,
                  {cost, cost, cost, cost});
    charge.resource_id = resource;
    charge.service_name = "Compute";
    charge.charge_description = "a node";
    return charge;
  }

  void make_charges(Facts& facts) {
    for (const char* month : kMonths) {
      const Instant begin = at(std::string(month) + "-01");
      const Interval whole(begin, at(month_after(month) + "-01"));
      for (const Node& node : facts.nodes) {
        for (int week = 0; week < 4; ++week) {
          const Instant from = begin + std::chrono::days(7 * week);
          facts.charges.push_back(
              make_charge(node.provider_id, month, {from, from + std::chrono::days(7)}));
        }
      }
      facts.charges.push_back(make_charge("support", month, whole));
    }
  }

  void make_usages(Facts& facts) {
    std::map<GpuId, NodeId> nodes;
    for (const Gpu& gpu : facts.gpus) nodes.emplace(gpu.uuid, gpu.node);
    for (const Holding& job : facts.holdings) {
      const GpuId& gpu = std::get<OnGpus>(job.placement).gpus.front();
      if (!std::holds_alternative<WholeGpu>(job.device) || is_one_of(2)) continue;
      facts.usages.push_back(make_usage(job, nodes.at(gpu), gpu));
    }
  }

  Usage make_usage(const Holding& job, const NodeId& node, const GpuId& gpu) {
    return {.cluster = job.cluster,
            .node = node,
            .gpu = gpu,
            .mig_instance = {},
            .mig_profile = {},
            .model = {},
            .at = job.held.begin(),
            .gpu_util_ppm = below(1'000'001),
            .engine_active_ppm = {},
            .sm_active_ppm = {},
            .memory_used_bytes = (1 + below(70)) << 30,
            .memory_total_bytes = std::uint64_t{80} << 30,
            .power_milliwatts = 100'000 + below(500'000),
            .energy_millijoules = {},
            .workload = job.workload,
            .of_workload = false,
            .span_ms = static_cast<std::uint32_t>(kHourMs / 2),
            .part = 0,
            .id = {},
            .source = {}};
  }

  // Everything below touches others alone.
  void change_others(TwoLedgers& made) {
    Facts& facts = made.other;
    for (std::uint64_t left = 1 + below(3); left > 0; --left) {
      switch (below(6)) {
        case 0:
          made.changes.emplace_back("others have other names");
          rename_others(facts);
          break;
        case 1:
          made.changes.emplace_back("others' jobs are gone");
          remove_others(facts);
          break;
        case 2:
          made.changes.emplace_back("others' jobs are shorter");
          shorten_others(facts);
          break;
        case 3:
          made.changes.emplace_back("others' nodes cost more, and so does support");
          reprice_others(facts);
          break;
        case 4:
          made.changes.emplace_back("others have another node");
          add_node_of_others(facts);
          break;
        default:
          made.changes.emplace_back("others use their GPUs more");
          change_usages_of_others(facts);
      }
    }
  }

  void rename_others(Facts& facts) {
    std::map<std::pair<ClusterId, WorkloadId>, WorkloadId> names;
    for (Holding& job : facts.holdings) {
      if (is_askers(job)) continue;
      const WorkloadId name("renamed-" + job.workload.text());
      names.emplace(std::pair(job.cluster, job.workload), name);
      job.workload = name;
      Holding renamed = job;
      set_labels(renamed, "zeta", "zoe", "zoo");
      if (!is_askers(renamed)) job.labels = renamed.labels;
    }
    for (Usage& usage : facts.usages) {
      const auto name = names.find({usage.cluster, usage.workload});
      if (name != names.end()) usage.workload = name->second;
    }
  }

  void remove_others(Facts& facts) {
    std::erase_if(facts.holdings,
                  [&](const Holding& job) { return !is_askers(job) && is_one_of(2); });
    std::set<std::pair<ClusterId, WorkloadId>> left;
    for (const Holding& job : facts.holdings) left.emplace(job.cluster, job.workload);
    std::erase_if(facts.usages, [&](const Usage& usage) {
      return !left.contains({usage.cluster, usage.workload});
    });
  }

  void shorten_others(Facts& facts) {
    for (Holding& job : facts.holdings) {
      if (is_askers(job) || job.held.length_ms() < 2 * kHourMs) continue;
      job.held = Interval(job.held.begin(), job.held.end() - std::chrono::hours(1));
    }
  }

  std::set<std::string> nodes_of_asker(const Facts& facts) const {
    std::map<GpuId, NodeId> nodes;
    for (const Gpu& gpu : facts.gpus) nodes.emplace(gpu.uuid, gpu.node);
    std::set<std::string> theirs;
    for (const Holding& job : facts.holdings) {
      if (!is_askers(job)) continue;
      for (const GpuId& gpu : std::get<OnGpus>(job.placement).gpus) {
        theirs.insert("i-" + nodes.at(gpu).text().substr(1));
      }
    }
    return theirs;
  }

  void reprice_others(Facts& facts) {
    const auto theirs = nodes_of_asker(facts);
    for (Charge& charge : facts.charges) {
      if (theirs.contains(charge.resource_id)) continue;
      const Money more = Money::from_ticks(
          charge.costs.effective.ticks() + 1 + static_cast<Int128>(below(1u << 30)), kUsd);
      charge.costs = {more, more, more, more};
    }
  }

  void add_node_of_others(Facts& facts) {
    const bool is_there =
        std::ranges::find(facts.nodes, NodeId("n99"), &Node::name) != facts.nodes.end();
    if (is_there) return;
    Facts more;
    Node node = facts.nodes.front();
    node.name = NodeId("n99");
    node.provider_id = "i-99";
    Gpu gpu = facts.gpus.front();
    gpu.node = node.name;
    gpu.cluster = node.cluster;
    gpu.uuid = GpuId("GPU-99-0");
    gpu.index = 0;
    Holding job = make_job(node, 99, 0, 10, 500, false);
    job.workload = WorkloadId("of-others");
    set_labels(job, "zeta", "zoe", "zoo");
    for (const char* month : kMonths) {
      const Instant begin = at(std::string(month) + "-01");
      facts.charges.push_back(
          make_charge(node.provider_id, month, {begin, begin + std::chrono::days(28)}));
    }
    facts.usages.push_back(make_usage(job, node.name, gpu.uuid));
    facts.nodes.push_back(std::move(node));
    facts.gpus.push_back(std::move(gpu));
    facts.holdings.push_back(std::move(job));
  }

  void change_usages_of_others(Facts& facts) {
    std::set<std::pair<ClusterId, WorkloadId>> theirs;
    for (const Holding& job : facts.holdings) {
      if (is_askers(job)) theirs.emplace(job.cluster, job.workload);
    }
    for (Usage& usage : facts.usages) {
      if (theirs.contains({usage.cluster, usage.workload})) continue;
      usage.gpu_util_ppm = below(1'000'001);
      usage.power_milliwatts = below(700'000);
    }
  }

  Random random_;
  std::vector<SummaryFilter> scope_;
  int jobs_ = 0;
};

}  // namespace

TwoLedgers make_two_ledgers(std::uint64_t seed) { return Maker(seed).make(); }

std::unique_ptr<Store> make_ledger(const Facts& facts) {
  auto store = make_memory_store();
  const Instant now = at("2026-04-02T10:00:00Z");
  {
    auto session = store->begin_import({.format = "t", .name = "t", .file_hash = {}, .at = now});
    CHECK(session && (*session)->append_nodes(facts.nodes) && (*session)->append_gpus(facts.gpus) &&
              (*session)->append_holdings(facts.holdings) &&
              (*session)->append_usages(facts.usages) && (*session)->append_charges(facts.charges),
          "a ledger in memory takes facts");
    const auto outcome = (*session)->commit();
    CHECK(outcome && outcome->rejected == 0, "the facts agree with each other");
  }
  const Config config = default_config();
  const Catalog catalog = Catalog::built_in();
  for (const char* name : kMonths) {
    auto month = LedgerMonth::load(*store, name, config.join_rules);
    CHECK(month.has_value(), "the ledger has the month");
    const auto scopes = allocate_whole_month(*store, *month,
                                             {.policy = config.policy,
                                              .catalog = catalog,
                                              .threads = 1,
                                              .join_rules = config.join_rules,
                                              .at = now,
                                              .changed = {}});
    CHECK(scopes.has_value(), "the month can be allocated");
  }
  return store;
}

}  // namespace pennyweight::isolation
