#include "insight/what_if/scenario_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include "core/check.h"
#include "core/try.h"
#include "insight/what_if/copy_names.h"
#include "insight/what_if/fitted_jobs.h"

namespace pennyweight::what_if {
namespace {

Money percent_of(Money money, std::uint32_t percent) {
  const bool negative = money.is_negative();
  const auto size = static_cast<UInt128>(negative ? -money.ticks() : money.ticks());
  const auto part = static_cast<Int128>(multiply_divide(size, percent, 100).quotient);
  return Money::from_ticks(negative ? -part : part, money.currency());
}

std::string in_words(const FleetChange& change) {
  std::string words = "nodes";
  if (!change.gpu_model.empty()) words += fmt::format(" with {}", change.gpu_model);
  if (!change.pool.empty()) words += fmt::format(" of pool {}", change.pool);
  return words;
}

class FleetChanger {
 public:
  FleetChanger(const ClusterMonth& month, const Interval& period, const Scenario& scenario,
               const StopCheck& is_stopped, const RateOn& rate_on)
      : month_(month),
        period_(period),
        scenario_(scenario),
        is_stopped_(is_stopped),
        rate_on_(rate_on),
        fleet_(month.nodes, month.gpus, month.catalog, month.join_rules) {
    for (const Gpu& gpu : month.gpus) gpus_of_node_[gpu.node].push_back(&gpu);
    for (std::uint32_t i = 0; i < fleet_.nodes().size(); ++i) {
      if (was_there(fleet_.nodes()[i], period_)) ++machines_;
    }
    facts_.holdings.assign(month.holdings.begin(), month.holdings.end());
  }

  Result<ScenarioFacts> make() {
    TRY(price_charges());
    for (std::size_t i = 0; i < scenario_.prices.size(); ++i) {
      if (used_prices_.contains(i)) continue;
      const std::string& model = scenario_.prices[i].gpu_model;
      return fail(ErrorCode::kConfig,
                  fmt::format("no charge of cluster {} is for nodes{}, so their price changes "
                              "nothing",
                              month_.cluster.text(), model.empty() ? "" : " with " + model));
    }
    for (std::size_t i = 0; i < month_.charges.size(); ++i) {
      if (i % kBetweenChecks == 0) TRY(go_on(is_stopped_));
      const auto nodes = fleet_.nodes_of(month_.charges[i]);
      if (nodes.size() > 1) charged_together_.insert(nodes.begin(), nodes.end());
      if (nodes.size() == 1) charges_of_node_[nodes.front()].push_back(i);
    }
    for (const FleetChange& change : scenario_.fleet) TRY(apply(change));
    for (const AutoscaleChange& change : scenario_.autoscaled) TRY(keep_most(change));
    TRY(go_on(is_stopped_));
    keep_facts();
    std::vector<Charge> kept;
    for (std::size_t i = 0; i < priced_.size(); ++i) {
      if (!dropped_charges_.contains(i)) kept.push_back(priced_[i]);
    }
    kept.insert(kept.end(), added_charges_.begin(), added_charges_.end());
    for (auto& [node, charge] : unused_) {
      if (!removed_.contains(node)) kept.push_back(std::move(charge));
    }
    facts_.charges = std::move(kept);
    return std::move(facts_);
  }

 private:
  // The nodes and GPUs that are left, and then those that are added.
  void keep_facts() {
    std::set<NodeId> removed;
    for (const std::uint32_t index : removed_) removed.insert(fleet_.any_fact(index).name);
    std::vector<Node> nodes;
    for (const Node& node : month_.nodes) {
      if (!removed.contains(node.name)) nodes.push_back(node);
    }
    std::ranges::move(facts_.nodes, std::back_inserter(nodes));
    facts_.nodes = std::move(nodes);
    std::vector<Gpu> gpus;
    for (const Gpu& gpu : month_.gpus) {
      if (!removed.contains(gpu.node)) gpus.push_back(gpu);
    }
    std::ranges::move(facts_.gpus, std::back_inserter(gpus));
    facts_.gpus = std::move(gpus);
    stretch();
  }

  // Nodes of autoscaled pools may be on at any time of the period: they and their GPUs are there
  // from its beginning on, and stay.
  void stretch() {
    std::set<NodeId> names;
    for (const std::uint32_t index : stretched_) {
      names.insert(fleet_.any_fact(index).name);
      const auto copies = copies_of_.find(index);
      if (copies != copies_of_.end()) names.insert(copies->second.begin(), copies->second.end());
    }
    if (names.empty()) return;
    const auto widen = [&](auto& facts, auto name_of, auto node_of) {
      std::map<std::string, std::vector<std::size_t>> of_name;
      for (std::size_t i = 0; i < facts.size(); ++i) {
        if (names.contains(node_of(facts[i]))) of_name[name_of(facts[i])].push_back(i);
      }
      for (auto& [name, numbers] : of_name) {
        std::ranges::stable_sort(numbers, {}, [&](std::size_t i) { return facts[i].from; });
        auto& first = facts[numbers.front()];
        first.from = std::min(first.from, period_.begin());
        for (std::size_t n = 0; n + 1 < numbers.size(); ++n) {
          auto& to = facts[numbers[n]].to;
          if (to) to = std::max(*to, facts[numbers[n + 1]].from);
        }
        facts[numbers.back()].to.reset();
      }
    };
    widen(
        facts_.nodes, [](const Node& node) { return node.name.text(); },
        [](const Node& node) { return node.name; });
    widen(
        facts_.gpus, [](const Gpu& gpu) { return gpu.uuid.text(); },
        [](const Gpu& gpu) { return gpu.node; });
  }

  Result<void> price_charges() {
    priced_.assign(month_.charges.begin(), month_.charges.end());
    ListedCharges listed = TRY(apply_list_prices(month_, fleet_, period_, scenario_.list_prices,
                                                 rate_on_, priced_, is_stopped_));
    facts_.prices = std::move(listed.prices);
    dropped_charges_ = std::move(listed.dropped);
    unused_ = std::move(listed.unused);
    std::vector<const GpuModel*> models;
    for (const PriceChange& change : scenario_.prices) {
      models.push_back(change.gpu_model.empty() ? nullptr : find_gpu_model(change.gpu_model));
    }
    for (std::size_t at = 0; at < priced_.size(); ++at) {
      if (at % kBetweenChecks == 0) TRY(go_on(is_stopped_));
      Charge& charge = priced_[at];
      const auto nodes = fleet_.nodes_of(charge);
      if (nodes.empty()) continue;
      const NodeView& node = fleet_.nodes()[nodes.front()];
      for (std::size_t i = 0; i < scenario_.prices.size(); ++i) {
        const PriceChange& change = scenario_.prices[i];
        if (!change.gpu_model.empty() && models[i] != node.model) continue;
        used_prices_.insert(i);
        for (Money Costs::* cost :
             {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
          charge.costs.*cost = percent_of(charge.costs.*cost, change.percent);
        }
      }
      if (is_spot(node.model) && is_for_use_on_demand(charge)) {
        charge.pricing_category = PricingCategory::kDynamic;
      }
    }
    return {};
  }

  // Whether the provider takes back nodes with this model.
  bool is_spot(const GpuModel* model) const {
    if (scenario_.spot.reclaimed_per_hour == 0) return false;
    return scenario_.spot.gpu_model.empty() || model == find_gpu_model(scenario_.spot.gpu_model);
  }
  // What a commitment covers stays what it is: it is paid for, whatever runs on it.
  static bool is_for_use_on_demand(const Charge& charge) {
    return charge.charge_category == ChargeCategory::kUsage &&
           charge.pricing_category == PricingCategory::kStandard;
  }

  // `model`: the change's, or null for any.
  bool selects(const FleetChange& change, const GpuModel* model, std::uint32_t index) const {
    const NodeView& view = fleet_.nodes()[index];
    const Node* const last = last_fact(view, period_);
    if (last == nullptr || (!change.pool.empty() && last->pool.text() != change.pool)) return false;
    return model == nullptr || view.model == model;
  }

  Result<void> apply(const FleetChange& change) {
    TRY(go_on(is_stopped_));
    const GpuModel* const model =
        change.gpu_model.empty() ? nullptr : find_gpu_model(change.gpu_model);
    std::vector<std::uint32_t> selected;
    for (std::uint32_t i = 0; i < fleet_.nodes().size(); ++i) {
      if (selects(change, model, i) && !removed_.contains(i)) selected.push_back(i);
    }
    const std::uint64_t wanted =
        change.nodes < 0 ? static_cast<std::uint64_t>(-change.nodes) : std::uint64_t{1};
    if (selected.size() < wanted) {
      return fail(ErrorCode::kConfig,
                  fmt::format("{} {} can't be removed or copied: cluster {} has {}", wanted,
                              in_words(change), month_.cluster.text(), selected.size()));
    }
    if (change.nodes < 0) {
      for (std::uint64_t n = 0; n < wanted; ++n) {
        TRY(remove(selected[selected.size() - 1 - n]));
      }
      return {};
    }
    TRY(check_room(change, selected.front()));
    for (std::int64_t n = 0; n < change.nodes; ++n) {
      if (n % 256 == 0) TRY(go_on(is_stopped_));
      TRY(add_copy(selected.front()));
    }
    return {};
  }

  // Leaves a pool as many nodes as it may have at most, the first ones. They are alike, so that it
  // does not matter which these are.
  Result<void> keep_most(const AutoscaleChange& change) {
    const FleetChange of_pool{.nodes = 0, .pool = change.pool, .gpu_model = change.gpu_model};
    const GpuModel* const model =
        change.gpu_model.empty() ? nullptr : find_gpu_model(change.gpu_model);
    std::vector<std::uint32_t> selected;
    for (std::uint32_t i = 0; i < fleet_.nodes().size(); ++i) {
      if (fleet_.nodes()[i].capacity.gpus == 0 || removed_.contains(i)) continue;
      if (selects(of_pool, model, i)) selected.push_back(i);
    }
    stretched_.insert(selected.begin(), selected.end());
    if (!change.most) return {};
    const std::string words = in_words(of_pool);
    for (const std::uint32_t index : selected) {
      const NodeView& one = fleet_.nodes()[index];
      const NodeView& first = fleet_.nodes()[selected.front()];
      if (one.model == first.model && one.capacity.gpus == first.capacity.gpus) continue;
      return fail(
          ErrorCode::kConfig,
          fmt::format("{} of cluster {} have different GPUs, so which of them an autoscaled "
                      "pool would have at most is not known; choose one model",
                      words, month_.cluster.text()));
    }
    const bool adds =
        std::ranges::any_of(scenario_.fleet, [](const auto& one) { return one.nodes > 0; });
    if (adds) {
      return fail(ErrorCode::kConfig,
                  "nodes are added, and a pool has a most: add none, or leave the most out");
    }
    if (selected.size() <= *change.most) {
      return fail(ErrorCode::kConfig,
                  fmt::format("cluster {} has {} {}, so at most {} changes nothing; leave it out, "
                              "or add nodes",
                              month_.cluster.text(), selected.size(), words, *change.most));
    }
    while (selected.size() > *change.most) {
      TRY(remove(selected.back()));
      stretched_.erase(selected.back());
      selected.pop_back();
    }
    return {};
  }

  // Counts what the copies of a node would add, before they are made.
  Result<void> check_room(const FleetChange& change, std::uint32_t index) {
    const auto nodes = static_cast<std::uint64_t>(change.nodes);
    if (machines_ + nodes > kReplayMachinesMax) {
      return fail(ErrorCode::kLimit,
                  fmt::format("nodes +{} would make {} nodes of {}; a scenario has at most {}. Add "
                              "fewer",
                              nodes, machines_ + nodes, machines_, kReplayMachinesMax));
    }
    const auto gpus = gpus_of_node_.find(fleet_.any_fact(index).name);
    const std::uint64_t facts_each = fleet_.nodes()[index].facts.size() +
                                     charges_of_node_[index].size() +
                                     (gpus == gpus_of_node_.end() ? 0 : gpus->second.size());
    if (added_facts_ + nodes * facts_each > kAddedFactsMax) {
      return fail(
          ErrorCode::kLimit,
          fmt::format("nodes +{} would add {} charges, nodes and GPUs, {} for each node; a "
                      "scenario adds at most {}. Add fewer",
                      nodes, added_facts_ + nodes * facts_each, facts_each, kAddedFactsMax));
    }
    machines_ += nodes;
    added_facts_ += nodes * facts_each;
    return {};
  }

  Result<void> check_own_price(std::uint32_t index) const {
    if (!charged_together_.contains(index)) return {};
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("node {} is charged together with others as pool {}, so its own price "
                    "is not known; import a bill by node",
                    fleet_.any_fact(index).name.text(), fleet_.any_fact(index).pool.text()));
  }

  Result<void> remove(std::uint32_t index) {
    TRY(check_own_price(index));
    removed_.insert(index);
    --machines_;
    for (const std::size_t charge : charges_of_node_[index]) dropped_charges_.insert(charge);
    return {};
  }

  Result<void> add_copy(std::uint32_t index) {
    TRY(check_own_price(index));
    const Node& original = fleet_.any_fact(index);
    std::string suffix;
    do {  // a ledger that a replay wrote has such names already
      suffix = fmt::format("~{}", ++copies_);
    } while (fleet_.node_of(NodeId(original.name.text() + suffix)));
    copies_of_[index].emplace_back(original.name.text() + suffix);
    const auto renamed = [&](const std::string& text) {
      return text.empty() ? text : text + suffix;
    };
    for (const Node* fact : fleet_.nodes()[index].facts) {
      Node copy = *fact;
      copy.name = NodeId(fact->name.text() + suffix);
      copy.provider_id = renamed(fact->provider_id);
      copy.id = numbered(fact->id.hash, copies_);
      facts_.nodes.push_back(std::move(copy));
    }
    const auto gpus = gpus_of_node_.find(original.name);
    for (const Gpu* gpu : gpus == gpus_of_node_.end() ? std::vector<const Gpu*>() : gpus->second) {
      Gpu copy = *gpu;
      copy.node = NodeId(gpu->node.text() + suffix);
      copy.uuid = GpuId(gpu->uuid.text() + suffix);
      for (MigInstance& instance : copy.mig_instances) {
        instance.id = GpuId(instance.id.text() + suffix);
      }
      copy.id = numbered(gpu->id.hash, copies_);
      facts_.gpus.push_back(std::move(copy));
    }
    for (const std::size_t at : charges_of_node_[index]) {
      if (dropped_charges_.contains(at)) continue;
      Charge copy = priced_[at];
      copy.resource_id = renamed(copy.resource_id);
      copy.resource_name = renamed(copy.resource_name);
      copy.id = numbered(copy.id.hash, copies_);
      added_charges_.push_back(std::move(copy));
    }
    return {};
  }

  static constexpr std::size_t kBetweenChecks = 4096;
  const ClusterMonth& month_;
  const Interval& period_;
  const Scenario& scenario_;
  const StopCheck& is_stopped_;
  const RateOn& rate_on_;
  FleetView fleet_;
  std::map<NodeId, std::vector<const Gpu*>> gpus_of_node_;
  std::uint64_t machines_ = 0;  // with those that are added, without those that are removed
  std::uint64_t added_facts_ = 0;
  std::set<std::size_t> used_prices_;
  std::set<std::uint32_t> charged_together_;
  std::map<std::uint32_t, std::vector<std::size_t>> charges_of_node_;
  std::set<std::uint32_t> removed_;
  std::set<std::uint32_t> stretched_;  // of autoscaled pools
  std::map<std::uint32_t, std::vector<NodeId>> copies_of_;
  std::set<std::size_t> dropped_charges_;
  std::vector<Charge> priced_;
  std::vector<std::pair<std::uint32_t, Charge>> unused_;  // of commitments, by node
  std::vector<Charge> added_charges_;
  std::uint64_t copies_ = 0;
  ScenarioFacts facts_;  // nodes and GPUs: those that are added, until keep_facts()
};

}  // namespace

Result<void> go_on(const StopCheck& is_stopped) {
  if (is_stopped && is_stopped()) return fail(ErrorCode::kIo, "the replay was stopped");
  return {};
}

Result<ScenarioFacts> change_fleet(const ClusterMonth& month, const Interval& period,
                                   const Scenario& scenario, const StopCheck& is_stopped,
                                   const RateOn& rate_on) {
  return FleetChanger(month, period, scenario, is_stopped, rate_on).make();
}

namespace {

// How often each job runs after a change, in the order of the jobs.
std::vector<std::uint32_t> times_of_jobs(const ReplayWorld& world, const DemandChange& change) {
  std::vector<std::uint32_t> times(world.jobs.size(), 1);
  std::uint32_t owed = 0;  // percent of a job
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!change.team.empty() && world.jobs[i].team != change.team) continue;
    owed += change.percent;
    times[i] = owed / 100;
    owed %= 100;
  }
  return times;
}

Result<void> check_job_count(std::size_t count, std::size_t were, const std::string& what) {
  if (count <= kReplayJobsMax || count <= were) return {};
  return fail(ErrorCode::kLimit,
              fmt::format("{} would make {} jobs of {}; a scenario has at most {}. Choose a "
                          "smaller one",
                          what, count, were, kReplayJobsMax));
}

// A team that is not there gets copies of another one's jobs, at the times of these.
Result<void> add_team(ReplayWorld& world, const NewTeam& team) {
  if (std::ranges::any_of(world.jobs,
                          [&](const replay::Job& job) { return job.team == team.name; })) {
    return fail(
        ErrorCode::kConfig,
        fmt::format("the team '{}' has jobs already; change its demand instead", team.name));
  }
  const DemandChange share{.team = team.like, .percent = team.percent};
  const std::vector<std::uint32_t> times = times_of_jobs(world, share);
  CopyNames names(world);
  const std::size_t were = world.jobs.size();
  std::size_t count = were;
  for (std::size_t i = 0; i < were; ++i) {
    if (world.jobs[i].team == team.like) count += times[i];
  }
  if (count == were) {
    return fail(
        ErrorCode::kConfig,
        fmt::format("no job has the team '{}', so a new team like it has none either", team.like));
  }
  TRY(check_job_count(count, were, fmt::format("new-team {}", team.name)));
  world.jobs.reserve(count);
  world.origins.reserve(count);
  for (std::size_t i = 0; i < were; ++i) {
    if (world.jobs[i].team != team.like) continue;
    for (std::uint32_t n = 0; n < times[i]; ++n) {
      replay::Job job = world.jobs[i];
      job.name = names.next(world.origins[i]);
      job.team = team.name;
      world.jobs.push_back(std::move(job));
      world.origins.push_back(world.origins[i]);
    }
  }
  return {};
}

// 0: Monday. The Unix epoch was a Thursday.
std::uint32_t weekday_of(std::int64_t day) {
  return static_cast<std::uint32_t>(((day + 3) % 7 + 7) % 7);
}

// What the team's first job holds and requests besides GPUs, it does too.
Result<void> add_repeated(ReplayWorld& world, const RepeatedJob& repeated) {
  const auto model = std::ranges::find_if(
      world.jobs, [&](const replay::Job& job) { return job.team == repeated.team; });
  if (model == world.jobs.end()) {
    return fail(ErrorCode::kConfig,
                fmt::format("no job has the team '{}', so there is none to take labels from for a "
                            "repeated job",
                            repeated.team));
  }
  constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
  JobOrigin origin = world.origins[static_cast<std::size_t>(model - world.jobs.begin())];
  origin.waited_us.reset();
  origin.before_us = 0;
  origin.is_as_held = false;
  const replay::Request host = model->request;
  std::unordered_set<std::string> taken;
  for (const replay::Job& job : world.jobs) taken.insert(job.name);
  const std::int64_t begin_ms = world.period.begin().time_since_epoch().count();
  const std::int64_t end_ms = world.period.end().time_since_epoch().count();
  std::uint32_t number = 0;
  bool is_any = false;
  for (std::int64_t day = begin_ms / kDayMs - 1; day * kDayMs < end_ms; ++day) {
    if (repeated.weekday && weekday_of(day) != *repeated.weekday) continue;
    const std::int64_t at_ms = day * kDayMs + std::int64_t{repeated.minute} * 60'000;
    if (at_ms < begin_ms || at_ms >= end_ms) continue;
    replay::Job job;
    do {
      job.name = fmt::format("{}-repeat-{}", repeated.team, ++number);
    } while (taken.contains(job.name));
    taken.insert(job.name);
    job.team = repeated.team;
    job.submit_us = (at_ms - begin_ms) * 1000;
    job.work_us = repeated.work_us;
    job.request.gpus = repeated.gpus;
    job.request.cpu_milli = host.cpu_milli;
    job.request.memory_mib = host.memory_mib;
    world.jobs.push_back(std::move(job));
    world.origins.push_back(origin);
    is_any = true;
  }
  if (is_any) return check_job_count(world.jobs.size(), 0, "repeat");
  return fail(ErrorCode::kConfig,
              fmt::format("no such day of the period has the repeated job of '{}', so it changes "
                          "nothing",
                          repeated.team));
}

Result<void> multiply_jobs(ReplayWorld& world, const Scenario& scenario,
                           const StopCheck& is_stopped) {
  if (scenario.demand.empty()) return {};
  CopyNames names(world);
  for (const DemandChange& change : scenario.demand) {
    const std::vector<std::uint32_t> times = times_of_jobs(world, change);
    const std::uint64_t count = std::accumulate(times.begin(), times.end(), std::uint64_t{0});
    if (count > kReplayJobsMax && count > world.jobs.size()) {
      return fail(ErrorCode::kLimit,
                  fmt::format("demand {}{}% would make {} jobs of {}; a scenario has at most {}. "
                              "Choose a smaller one",
                              change.team.empty() ? "" : change.team + "=", change.percent, count,
                              world.jobs.size(), kReplayJobsMax));
    }
    std::vector<replay::Job> jobs;
    std::vector<JobOrigin> origins;
    jobs.reserve(count);
    origins.reserve(count);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (i % 1024 == 0) TRY(go_on(is_stopped));
      for (std::uint32_t n = 0; n < times[i]; ++n) {
        replay::Job job = world.jobs[i];
        if (n > 0) job.name = names.next(world.origins[i]);
        jobs.push_back(std::move(job));
        origins.push_back(world.origins[i]);
      }
    }
    world.jobs = std::move(jobs);
    world.origins = std::move(origins);
  }
  return {};
}

}  // namespace

Result<void> change_demand(ReplayWorld& world, const Scenario& scenario,
                           const StopCheck& is_stopped) {
  if (scenario.fitted) TRY(draw_fitted_jobs(world, scenario.scheduling.seed, is_stopped));
  for (const NewTeam& team : scenario.new_teams) TRY(add_team(world, team));
  for (const RepeatedJob& repeated : scenario.repeated) TRY(add_repeated(world, repeated));
  return multiply_jobs(world, scenario, is_stopped);
}

Result<void> check_horizon(const ReplayWorld& world) {
  constexpr Int128 kLongest = std::numeric_limits<std::int64_t>::max() / 2;
  Int128 total = 0;
  std::int64_t last = 0;
  for (const replay::Job& job : world.jobs) {
    total += Int128{job.work_us} + job.restart_us;
    last = std::max(last, job.submit_us);
  }
  if (total + last <= kLongest) return {};
  return fail(ErrorCode::kLimit,
              fmt::format("the {} jobs of this replay work {} hours in all, and its clock counts "
                          "{}; leave some out",
                          world.jobs.size(), static_cast<std::uint64_t>(total / 3'600'000'000),
                          static_cast<std::uint64_t>(kLongest / 3'600'000'000)));
}

namespace {

// The models of the world's machines with GPUs, null where one is unknown; nothing for a number
// that no such machine has.
using ModelsByNumber = std::vector<std::optional<const GpuModel*>>;

// "25%", 1 to 99: a part of any GPU.
std::optional<std::uint32_t> percent_of_gpu(std::string_view profile) {
  if (!profile.ends_with('%')) return std::nullopt;
  profile.remove_suffix(1);
  std::uint32_t percent = 0;
  const auto [end, problem] =
      std::from_chars(profile.data(), profile.data() + profile.size(), percent);
  if (problem != std::errc() || end != profile.data() + profile.size()) return std::nullopt;
  return percent >= 1 && percent <= 99 ? std::optional(percent) : std::nullopt;
}

// The share of a profile on every model that the job may run on; nothing where one lacks it, or
// they differ.
std::optional<MigShare> slice_of(const replay::Job& job, const std::string& profile,
                                 const ModelsByNumber& models) {
  if (const auto percent = percent_of_gpu(profile)) {
    const auto part = CardShare::of(*percent, 100);
    return part ? std::optional(MigShare{.compute = *part, .memory = *part}) : std::nullopt;
  }
  std::optional<MigShare> share;
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (!models[i]) continue;
    if (job.request.models != 0 && ((job.request.models >> i) & 1) == 0) continue;
    if (*models[i] == nullptr) return std::nullopt;
    const auto found = find_mig_share(**models[i], profile);
    if (!found) return std::nullopt;
    if (share && (share->compute != found->compute || share->memory != found->memory)) {
      return std::nullopt;
    }
    share = *found;
  }
  return share;
}

std::uint32_t minute_of_day(const ReplayWorld& world, std::int64_t us) {
  constexpr std::int64_t kMinuteMs = 60'000;
  const std::int64_t at_ms = world.period.begin().time_since_epoch().count() + us / 1000;
  return static_cast<std::uint32_t>(at_ms / kMinuteMs % (std::int64_t{24} * 60));
}

bool is_within(const replay::DailyWindow& window, std::uint32_t minute) {
  const bool is_after = window.from_minute <= minute;
  const bool is_before = minute < window.to_minute;
  return window.from_minute < window.to_minute ? is_after && is_before : is_after || is_before;
}

// Rounded down, so that seven sevenths fit one GPU.
std::uint32_t milli_of_slice(const MigShare& share) {
  const std::uint64_t units = std::max(share.compute, share.memory).units();
  return static_cast<std::uint32_t>(UInt128{units} * replay::kMilliPerGpu /
                                    CardShare::kUnitsPerCard);
}

}  // namespace

Result<std::vector<std::optional<MigShare>>> change_slices(ReplayWorld& world,
                                                           const FleetView& fleet,
                                                           const Scenario& scenario) {
  std::vector<std::optional<MigShare>> slices(world.jobs.size());
  ModelsByNumber models;
  for (std::size_t i = 0; i < world.machines.size(); ++i) {
    if (world.machines[i].gpus == 0) continue;
    const std::uint32_t number = world.machines[i].model;
    if (models.size() <= number) models.resize(number + 1);
    models[number] = fleet.nodes()[world.node_of_machine[i]].model;
  }
  for (const SliceChange& change : scenario.slices) {
    bool changes_any = false;
    for (std::size_t i = 0; i < world.jobs.size(); ++i) {
      replay::Job& job = world.jobs[i];
      if (job.request.gpus != 1 || (!change.team.empty() && job.team != change.team)) continue;
      if (change.window && !is_within(*change.window, minute_of_day(world, job.submit_us)))
        continue;
      const auto share = slice_of(job, change.profile, models);
      if (!share || milli_of_slice(*share) >= replay::kMilliPerGpu) continue;
      slices[i] = share;
      job.request.gpus = 0;
      job.request.gpu_milli = milli_of_slice(*share);
      world.origins[i].is_as_held = false;
      // Work of a month in microseconds times 10,000 % is far from the limit.
      job.work_us = job.work_us * change.time_percent / 100;
      changes_any = true;
    }
    if (changes_any) continue;
    return fail(
        ErrorCode::kConfig,
        fmt::format("no job{}{} holds one whole GPU of a model that can be cut into '{}', "
                    "so this slice changes nothing",
                    change.team.empty() ? "" : " of " + change.team,
                    change.window ? " that comes in that part of the day" : "", change.profile));
  }
  return slices;
}

}  // namespace pennyweight::what_if
