#include "insight/what_if/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/check.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/gpu_speed.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/replay/simulate.h"
#include "insight/what_if/commitments.h"
#include "insight/what_if/node_pools.h"
#include "insight/what_if/scenario_facts.h"

namespace pennyweight::what_if {
namespace {

// A MIG slice names a layout that the node it moves to may not have; its share is the same
// anywhere.
Device portable(const Device& device, const replay::Request& request) {
  if (!std::holds_alternative<MigSlice>(device)) return device;
  const auto share = CardShare::of(request.gpu_milli, replay::kMilliPerGpu);
  CHECK(share.has_value(), "thousandths are a share");
  return CardFraction{*share, *share};
}

// What the jobs held in the replay, as holdings within the period.
std::vector<Holding> holdings_of(const ReplayWorld& world, const replay::Replay& replay,
                                 std::span<const std::optional<MigShare>> slices,
                                 std::span<const Holding> originals) {
  std::vector<Holding> holdings;
  for (const std::uint32_t index : world.left_as_they_were) holdings.push_back(originals[index]);
  std::map<std::uint32_t, std::uint32_t> attempts;
  for (const replay::JobRun& run : replay.runs) {
    const Holding& original = originals[world.origins[run.job].holding];
    const auto at = [&](std::int64_t us) {
      return world.period.begin() + std::chrono::milliseconds(us / 1000);
    };
    const auto held = Interval::of(at(run.begin_us), std::min(at(run.end_us), world.period.end()));
    if (!held) continue;
    const replay::Job& job = world.jobs[run.job];
    OnNodes placement;
    for (const replay::Share& share : run.shares) {
      placement.parts.push_back({NodeId(world.machines[share.machine].name),
                                 job.request.gpu_milli > 0
                                     ? static_cast<std::uint32_t>(device_count(original))
                                     : static_cast<std::uint32_t>(std::popcount(share.gpu_mask))});
    }
    Holding holding(original.cluster, WorkloadId(job.name), *held, std::move(placement));
    const std::uint32_t attempt = attempts[run.job]++;
    holding.attempt =
        attempt == 0 ? original.attempt : fmt::format("{}~{}", original.attempt, attempt);
    holding.device =
        job.request.gpu_milli > 0 ? portable(original.device, job.request) : Device{WholeGpu{}};
    if (slices[run.job]) {
      holding.device = CardFraction{slices[run.job]->compute, slices[run.job]->memory};
    }
    holding.cpu_milli = original.cpu_milli;
    holding.memory_bytes = original.memory_bytes;
    holding.labels = original.labels;
    holding.id = numbered(original.id.hash, holdings.size() + 1);
    holdings.push_back(std::move(holding));
  }
  return holdings;
}

// Whether a name comes before another one, with numbers in them compared as numbers.
bool is_before_by_number(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  // The number at the front, without zeros that lead; numbers of more digits are larger.
  const auto take_number = [&](std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit);
    std::string_view number = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(number.size());
    while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
    return number;
  };
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view left = take_number(a);
      const std::string_view right = take_number(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

class WhatIfRun {
 public:
  explicit WhatIfRun(const WhatIfInput& input) : input_(input), month_(input.cluster.facts) {
    if (input.progress != nullptr) {
      is_stopped_ = [watch = &input.progress->watch] { return watch->stop.load(); };
    }
  }

  Result<WhatIf> run() {
    WhatIf result;
    TRY(begin(WhatIfProgress::Stage::kCostWas, 0));
    result.cost_was = TRY(costs_of(month_));
    const TeamOf team_of = [&](const Holding& holding) {
      const auto owner = result.cost_was.owners.find(holding.workload);
      if (owner == result.cost_was.owners.end()) return std::string();
      return std::string(owner->second.find(input_.team_dimension).value_or(""));
    };
    const FleetView fleet(month_.nodes, month_.gpus, month_.catalog, month_.join_rules);
    ReplayWorld world = TRY(make_replay_world(
        month_, fleet, fleet, input_.period, team_of,
        {.any_model = input_.scenario.any_model, .uses_limits = input_.calibration_limits}));
    if (world.jobs.empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("cluster {} held nothing in {} that could be replayed",
                              month_.cluster.text(), input_.month));
    }
    add_measures(world, fleet);
    result.left_as_they_were = world.left_as_they_were.size();
    result.rounded_up = world.rounded_up;
    result.partly_there = world.partly_there;
    result.was = figures_as_it_was(world);
    result.with_submit = static_cast<std::uint64_t>(
        std::count_if(world.origins.begin(), world.origins.end(),
                      [](const JobOrigin& origin) { return origin.waited_us.has_value(); }));
    TRY(check_horizon(world));
    TRY(begin(WhatIfProgress::Stage::kCalibration, world.jobs.size()));
    const replay::Replay calibrated = TRY(replay_of(world, input_.calibration, {}, {}));
    result.calibrated = figures_of(world, calibrated);
    TRY(go_on(is_stopped_));
    result.teams_calibrated = team_figures(world, calibrated);
    result.jain_was = jain_index(result.teams_calibrated);
    TRY(go_on(is_stopped_));
    result.moments_calibrated = moments_of(world, calibrated);
    TRY(check_teams(world));
    TRY(check_power(world, fleet));
    TRY(check_calibration(result));
    TRY(run_scenario(fleet, team_of, result));
    return result;
  }

 private:
  Result<void> begin(WhatIfProgress::Stage stage, std::uint64_t jobs) const {
    TRY(go_on(is_stopped_));
    if (input_.progress == nullptr) return {};
    input_.progress->watch.jobs_ended = 0;
    input_.progress->jobs = jobs;
    input_.progress->stage = stage;
    return {};
  }

  Result<replay::Replay> replay_of(const ReplayWorld& world, const replay::Scheduling& scheduling,
                                   const replay::Spot& spot,
                                   const std::vector<replay::NodePool>& pools) const {
    constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
    replay::Watch* watch = input_.progress == nullptr ? nullptr : &input_.progress->watch;
    replay::Scheduling timed = scheduling;
    timed.admission.begin_of_day_us =
        world.period.begin().time_since_epoch().count() % kDayMs * 1000;
    replay::Replay replay = replay::simulate(
        world.jobs, world.machines,
        {.scheduling = timed,
         .spot = spot,
         .pools = pools,
         .spill_over = {.after_us =
                            input_.scenario.spill_over ? input_.scenario.spill_over->after_us : 0,
                        .places = world.places},
         .keep_runs = true,
         .watch = watch});
    TRY(go_on(is_stopped_));
    return replay;
  }

  Result<replay::Spot> spot_of(const ReplayWorld& world, const FleetView& fleet) const {
    const SpotChange& change = input_.scenario.spot;
    replay::Spot spot{.reclaimed_per_hour = change.reclaimed_per_hour,
                      .models = 0,
                      .replaced_after_us = change.replaced_after_us,
                      .checkpoint_every_us = change.checkpoint_every_us,
                      .until_us = period_us(world.period),
                      .seed = change.seed};
    for (const OutageChange& outage : input_.scenario.outages) {
      TRY(plan_outage(outage, world, fleet, spot));
    }
    TRY(plan_interruptions(world, spot));
    if (change.gpu_model.empty() || change.reclaimed_per_hour == 0) return spot;
    for (std::size_t i = 0; i < world.machines.size(); ++i) {
      if (fleet.nodes()[world.node_of_machine[i]].model == find_gpu_model(change.gpu_model)) {
        spot.models |= replay::ModelSet{1} << world.machines[i].model;
      }
    }
    if (spot.models != 0) return spot;
    return fail(ErrorCode::kConfig,
                fmt::format("cluster {} has no node with {}, so none can be spot capacity",
                            month_.cluster.text(), change.gpu_model));
  }

  // The part of the outage that lies in the period.
  Result<void> plan_outage(const OutageChange& outage, const ReplayWorld& world,
                           const FleetView& fleet, replay::Spot& spot) const {
    const std::int64_t period_begin_ms = world.period.begin().time_since_epoch().count();
    const std::int64_t begin = (outage.begin_ms - period_begin_ms) * 1000;
    const std::int64_t end = begin + outage.length_us;
    const std::int64_t from = std::max<std::int64_t>(0, begin);
    if (end <= 0 || from >= period_us(world.period)) {
      return fail(ErrorCode::kConfig,
                  fmt::format("an outage of {} lies outside {}, so it changes nothing",
                              month_.cluster.text(), input_.month));
    }
    const GpuModel* const model =
        outage.gpu_model.empty() ? nullptr : find_gpu_model(outage.gpu_model);
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < world.machines.size() && found < outage.nodes; ++i) {
      const NodeView& view = fleet.nodes()[world.node_of_machine[i]];
      if (model != nullptr && view.model != model) continue;
      const Node* const last = last_fact(view, world.period);
      if (!outage.pool.empty() && (last == nullptr || last->pool.text() != outage.pool)) continue;
      spot.planned.push_back({.at_us = from, .machine = i, .away_us = end - from});
      ++found;
    }
    if (found == outage.nodes) return {};
    return fail(ErrorCode::kConfig,
                fmt::format("an outage of {} nodes is of more than the {} that cluster {} has so",
                            outage.nodes, found, month_.cluster.text()));
  }

  // The trace's interruptions that reach into the period; as an outage does, each may end after it.
  Result<void> plan_interruptions(const ReplayWorld& world, replay::Spot& spot) const {
    if (input_.scenario.interruptions.empty()) return {};
    std::map<std::string_view, std::uint32_t> machines;
    for (std::uint32_t i = 0; i < world.machines.size(); ++i) {
      machines.emplace(world.machines[i].name, i);
    }
    const std::int64_t period_begin_ms = world.period.begin().time_since_epoch().count();
    const std::int64_t period_end_ms = world.period.end().time_since_epoch().count();
    std::uint64_t in_period = 0;
    std::uint64_t unknown = 0;
    std::string_view first_unknown;
    for (const NodeInterruption& one : input_.scenario.interruptions) {
      const std::int64_t begin_ms = std::max(one.begin_ms, period_begin_ms);
      if (begin_ms >= one.end_ms || begin_ms >= period_end_ms) continue;
      ++in_period;
      const auto machine = machines.find(one.node);
      if (machine == machines.end()) {
        if (unknown++ == 0) first_unknown = one.node;
        continue;
      }
      spot.planned.push_back({.at_us = (begin_ms - period_begin_ms) * 1000,
                              .machine = machine->second,
                              .away_us = (one.end_ms - begin_ms) * 1000});
    }
    if (in_period == 0) {
      return fail(ErrorCode::kConfig,
                  fmt::format("no interruption of the trace lies in {}, so it changes nothing",
                              input_.month));
    }
    if (unknown == 0) return {};
    return fail(ErrorCode::kConfig,
                fmt::format("{} of {} interruptions in {} are of nodes that cluster {} does not "
                            "have, such as '{}'; leave them out, or name nodes as the ledger does",
                            unknown, in_period, input_.month, month_.cluster.text(),
                            printable_text(first_unknown, 100)));
  }

  // A change that reaches nobody is a mistake, not a change.
  Result<void> check_teams(const ReplayWorld& world) const {
    const auto check = [&](const std::string& team, std::string_view what) -> Result<void> {
      const auto is_new = [&](const NewTeam& other) { return other.name == team; };
      if (team.empty() || std::ranges::any_of(input_.scenario.new_teams, is_new)) return {};
      const bool is_there = std::any_of(world.jobs.begin(), world.jobs.end(),
                                        [&](const replay::Job& job) { return job.team == team; });
      if (is_there) return {};
      return fail(
          ErrorCode::kConfig,
          fmt::format("no job of {} in {} has the {} '{}', so {} changes nothing",
                      month_.cluster.text(), input_.month, input_.team_dimension, team, what));
    };
    for (const DemandChange& change : input_.scenario.demand) TRY(check(change.team, "its demand"));
    for (const auto& [team, weight] : input_.scenario.scheduling.team_weights) {
      TRY(check(team, "its weight"));
    }
    for (const SliceChange& change : input_.scenario.slices) TRY(check(change.team, "its slice"));
    for (const QueueLimit& limit : input_.scenario.queue_limits) {
      TRY(check(limit.team, "its limit of waiting"));
      if (limit.team.empty()) TRY(check_others(world));
    }
    const replay::AdmissionRules& admission = input_.scenario.scheduling.admission;
    for (const auto& [team, quota] : admission.quotas) TRY(check(team, "its quota"));
    for (const auto& [team, window] : admission.windows) TRY(check(team, "its part of the day"));
    return {};
  }

  // A limit for everybody else, where somebody else is.
  Result<void> check_others(const ReplayWorld& world) const {
    std::set<std::string_view> named;
    for (const QueueLimit& limit : input_.scenario.queue_limits) named.insert(limit.team);
    const bool is_any = std::ranges::any_of(world.jobs, [&](const replay::Job& job) {
      return job.team.empty() || !named.contains(job.team);
    });
    if (is_any) return {};
    return fail(
        ErrorCode::kConfig,
        "each team has a limit of waiting of its own, so one for the others changes nothing");
  }

  Result<void> check_power(const ReplayWorld& world, const FleetView& fleet) const {
    for (const PowerRate& rate : input_.scenario.power) {
      if (!select(world, fleet, find_gpu_model(rate.gpu_model)).nodes.empty()) continue;
      return fail(ErrorCode::kConfig,
                  fmt::format("cluster {} has no node with {}, so its power changes nothing",
                              month_.cluster.text(), rate.gpu_model));
    }
    return {};
  }

  Result<MethodCosts> costs_of(const ClusterMonth& month) const {
    const ComparedCluster cluster{.facts = month, .outages = input_.cluster.outages};
    auto costs = TRY(policy_costs(std::span(&cluster, 1), input_.policy,
                                  {.month = input_.month,
                                   .cost = input_.cost,
                                   .threads = input_.threads,
                                   .left_out = {},
                                   .is_stopped = is_stopped_}));
    return std::move(costs.front());
  }

  Result<void> check_waits(const WhatIf& result) const {
    if (result.with_submit * 2 < result.was.jobs) return {};
    const auto check = [&](std::string_view name, std::int64_t was,
                           std::int64_t replayed) -> Result<void> {
      const std::int64_t off = was < replayed ? replayed - was : was - replayed;
      if (off <= kWaitErrorUs || Int128{off} * 100 <= Int128{was} * input_.wait_error_percent_max) {
        return {};
      }
      return fail(ErrorCode::kUnsupported,
                  fmt::format("in the replay of what really ran {} jobs wait at most {} minutes; "
                              "they waited {}. A scenario of this month would be as far off. Name "
                              "the scheduling that really ran (--calibrate-scheduler, "
                              "--calibrate-blocked, --calibrate-lengths), or accept it with "
                              "--wait-error-max",
                              name, replayed / 60'000'000, was / 60'000'000));
    };
    TRY(check("half of the", result.was.wait.p50, result.calibrated.wait.p50));
    return check("95 % of the", result.was.wait.p95, result.calibrated.wait.p95);
  }

  // What really ran must come out of its own replay, or no scenario can be believed.
  Result<void> check_calibration(const WhatIf& result) const {
    const Int128 off = result.was.held - result.calibrated.held;
    const Int128 size = off < 0 ? -off : off;
    if (size * 100 <= result.was.held * static_cast<Int128>(input_.error_percent_max)) {
      return check_waits(result);
    }
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("replaying what really ran misses {} % of the GPU time held, and {} of {} jobs "
                    "fit no node; a scenario of this month would be as far off. See whether the "
                    "inventory has all nodes and GPUs, name the scheduling that really ran "
                    "(--calibrate-scheduler, --calibrate-blocked), or accept it with --error-max",
                    to_text(size * 100 / result.was.held), result.calibrated.never_start,
                    result.was.jobs));
  }

  Result<void> check_places(const ReplayWorld& world, const Scenario& scenario) const {
    if (!scenario.spill_over || world.place_count > 1) return {};
    return fail(
        ErrorCode::kConfig,
        fmt::format("all nodes of cluster {} are in one {}, so spilling over changes nothing",
                    month_.cluster.text(),
                    scenario.spill_over->scope == HomeScope::kPool ? "pool" : "region"));
  }

  Result<void> check_racks(const ReplayWorld& world, const Scenario& scenario) const {
    if (scenario.rack_nodes == 0) return {};
    std::uint32_t largest = 0;
    for (const replay::Machine& machine : world.machines) largest = std::max(largest, machine.gpus);
    const bool has_gangs = std::ranges::any_of(
        world.jobs, [&](const replay::Job& job) { return job.request.gpus > largest; });
    if (has_gangs && scenario.rack_nodes < world.machines.size()) return {};
    return fail(ErrorCode::kConfig,
                has_gangs
                    ? fmt::format("all {} nodes of cluster {} would be in one rack, so same-rack "
                                  "changes nothing",
                                  world.machines.size(), month_.cluster.text())
                    : fmt::format("no job of {} needs several nodes of cluster {}, so same-rack "
                                  "changes nothing",
                                  input_.month, month_.cluster.text()));
  }

  // Racks of so many nodes, in the order of their names: node-9 comes before node-10.
  static void set_racks(ReplayWorld& world, std::uint32_t rack_nodes) {
    if (rack_nodes == 0) return;
    std::vector<std::uint32_t> order(world.machines.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
      return is_before_by_number(world.machines[a].name, world.machines[b].name);
    });
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      world.machines[order[i]].rack = i / rack_nodes;
    }
  }

  // What is measured of a replay besides: how long jobs may wait, and what GPUs draw.
  void add_measures(ReplayWorld& world, const FleetView& fleet) const {
    for (const QueueLimit& limit : input_.scenario.queue_limits) {
      if (limit.team.empty()) {
        world.limits.others_us = limit.wait_us;
      } else {
        world.limits.by_team_us[limit.team] = limit.wait_us;
      }
    }
    world.watts.clear();
    for (const std::uint32_t node : world.node_of_machine) {
      const GpuModel* const model = fleet.nodes()[node].model;
      std::optional<GpuWatts> watts;
      if (model != nullptr) {
        const auto tdp = static_cast<std::uint32_t>(gpu_speed(*model).tdp_watts);
        if (tdp > 0) watts = {.held = tdp, .idle = tdp * kIdlePowerPercent / 100};
        for (const PowerRate& rate : input_.scenario.power) {
          if (find_gpu_model(rate.gpu_model) == model) {
            watts = {.held = rate.held_watts, .idle = rate.idle_watts};
          }
        }
      }
      world.watts.push_back(watts);
    }
  }

  // The scenario's jobs on its fleet, and what it takes to replay them.
  struct ScenarioWorld {
    ReplayWorld world;
    std::vector<std::optional<MigShare>> slices;
    replay::Spot spot;
    std::vector<replay::NodePool> pools;
  };
  Result<ScenarioWorld> scenario_world(const ClusterMonth& changed, const FleetView& fleet,
                                       const FleetView& ran_on, const TeamOf& team_of,
                                       const Scenario& scenario, bool is_tried = false) const {
    ReplayWorld world = TRY(make_replay_world(
        changed, fleet, ran_on, input_.period, team_of,
        {.home = scenario.spill_over ? std::optional(scenario.spill_over->scope) : std::nullopt,
         .any_model = scenario.any_model,
         .uses_limits = scenario.uses_limits}));
    TRY(check_places(world, scenario));
    TRY(check_racks(world, scenario));
    TRY(change_demand(world, scenario, is_stopped_));
    auto slices = TRY(change_slices(world, fleet, scenario));
    for (replay::Job& job : world.jobs) job.restart_us = scenario.restart_us;
    set_racks(world, scenario.rack_nodes);
    TRY(check_horizon(world));
    add_measures(world, fleet);
    const replay::Spot spot = TRY(spot_of(world, fleet));
    auto pools = TRY(node_pools(world, fleet, scenario, is_tried));
    return ScenarioWorld{std::move(world), std::move(slices), spot, std::move(pools)};
  }

  // The scenario again, with another seed or demand. Its bill is not divided again.
  Result<std::vector<JobFigures>> vary(const ClusterMonth& changed, const FleetView& fleet,
                                       const FleetView& ran_on, const TeamOf& team_of) const {
    std::vector<JobFigures> figures;
    for (const Variation& variation : input_.variations) {
      Scenario scenario = input_.scenario;
      scenario.scheduling.seed = variation.seed;
      if (variation.demand_percent != 100) {
        scenario.demand.push_back({.team = {}, .percent = variation.demand_percent});
      }
      ScenarioWorld varied = TRY(scenario_world(changed, fleet, ran_on, team_of, scenario));
      varied.spot.seed = variation.seed;
      TRY(begin(WhatIfProgress::Stage::kScenario, varied.world.jobs.size()));
      const replay::Replay replay =
          TRY(replay_of(varied.world, scenario.scheduling, varied.spot, varied.pools));
      figures.push_back(figures_of(varied.world, replay));
    }
    return figures;
  }

  // The month with the scenario's fleet, prices and commitments.
  Result<ScenarioFacts> facts_of(const Scenario& scenario) const {
    ScenarioFacts facts = TRY(change_fleet(month_, input_.period, scenario, is_stopped_));
    facts.charges =
        TRY(change_commitments(std::move(facts.charges), scenario.commitments, is_stopped_));
    return facts;
  }

  ClusterMonth month_with(const ScenarioFacts& facts) const {
    return {.cluster = month_.cluster,
            .charges = facts.charges,
            .nodes = facts.nodes,
            .gpus = facts.gpus,
            .holdings = month_.holdings,
            .catalog = month_.catalog,
            .join_rules = month_.join_rules};
  }

  // The scenario with `change` nodes more, or fewer.
  Result<FleetPoint> try_fleet(std::int64_t change, std::uint64_t never_start_max,
                               const FleetView& ran_on, const TeamOf& team_of) const {
    Scenario scenario = input_.scenario;
    const FleetGoal& goal = *input_.questions.fleet;
    if (change != 0) {
      scenario.fleet.push_back({.nodes = change, .pool = {}, .gpu_model = goal.gpu_model});
    }
    ScenarioFacts facts = TRY(facts_of(scenario));
    const ClusterMonth changed = month_with(facts);
    const FleetView fleet(changed.nodes, changed.gpus, month_.catalog, month_.join_rules);
    const ScenarioWorld tried =
        TRY(scenario_world(changed, fleet, ran_on, team_of, scenario, true));
    TRY(begin(WhatIfProgress::Stage::kScenario, tried.world.jobs.size()));
    const replay::Replay replay =
        TRY(replay_of(tried.world, scenario.scheduling, tried.spot, tried.pools));
    FleetPoint point{.nodes = 0,
                     .change = change,
                     .figures = figures_of(tried.world, replay),
                     .bill = {},
                     .is_enough = false};
    for (const NodeView& view : fleet.nodes()) {
      const bool is_of_model =
          goal.gpu_model.empty() || view.model == find_gpu_model(goal.gpu_model);
      if (is_of_model && was_there(view, input_.period)) ++point.nodes;
    }
    if (!tried.pools.empty()) {
      auto powered = TRY(charges_while_on(facts.charges, tried.world, fleet, replay, is_stopped_));
      facts.charges = std::move(powered.charges);
    }
    for (const Charge& charge : facts.charges) {
      const Money& cost = charge.costs.*input_.cost;
      point.bill.try_emplace(cost.currency(), Money::zero(cost.currency())).first->second += cost;
    }
    point.is_enough = point.figures.wait.p95 <= goal.wait_p95_max_us &&
                      point.figures.never_start <= never_start_max;
    return point;
  }

  // Halves the distance between a fleet that is enough and one that is not. Waiting need not grow
  // with each node that goes, so what is found is the end of this walk; every step of it is kept.
  Result<std::vector<FleetPoint>> fewest_nodes(std::uint64_t never_start_max,
                                               const FleetView& ran_on,
                                               const TeamOf& team_of) const {
    std::vector<FleetPoint> points;
    const auto is_enough = [&](std::int64_t change) -> Result<bool> {
      FleetPoint point = TRY(try_fleet(change, never_start_max, ran_on, team_of));
      points.push_back(std::move(point));
      return points.back().is_enough;
    };
    bool is_found = TRY(is_enough(0));
    const auto nodes = static_cast<std::int64_t>(points.front().nodes);
    if (nodes == 0) {
      return fail(ErrorCode::kConfig,
                  fmt::format("cluster {} has no node with {} to spare or add",
                              month_.cluster.text(), input_.questions.fleet->gpu_model));
    }
    std::int64_t enough = 0;
    std::int64_t too_few = -nodes;
    if (!is_found) {
      too_few = 0;
      // Twice as many more each time, up to three times the fleet.
      for (std::int64_t more = std::max<std::int64_t>(1, nodes / 16);
           !is_found && more <= 2 * nodes; more *= 2) {
        const bool is_so = TRY(is_enough(more));
        is_found = is_so;
        (is_so ? enough : too_few) = more;
      }
    }
    while (is_found && enough - too_few > 1) {
      const std::int64_t middle = too_few + (enough - too_few) / 2;
      const bool is_so = TRY(is_enough(middle));
      (is_so ? enough : too_few) = middle;
    }
    std::sort(points.begin(), points.end(),
              [](const FleetPoint& a, const FleetPoint& b) { return a.nodes < b.nodes; });
    return points;
  }

  // What each node of the fleet costs for the whole period. Only nodes that are asked for are
  // looked at; an Error where what one of them costs is not known.
  struct NodePrices {
    Currency currency;
    std::map<std::uint32_t, Int128> ticks;  // by node
  };
  Result<NodePrices> prices_of(const std::vector<std::uint32_t>& wanted, const FleetView& fleet,
                               std::span<const Charge> charges) const {
    std::optional<NodePrices> prices;
    const std::set<std::uint32_t> asked(wanted.begin(), wanted.end());
    for (std::size_t i = 0; i < charges.size(); ++i) {
      if (i % 4096 == 0) TRY(go_on(is_stopped_));
      const auto nodes = fleet.nodes_of(charges[i]);
      if (std::ranges::none_of(nodes, [&](std::uint32_t node) { return asked.contains(node); })) {
        continue;
      }
      if (nodes.size() > 1) {
        const Node& node = fleet.any_fact(nodes.front());
        return fail(ErrorCode::kUnsupported,
                    fmt::format("node {} is charged together with others as pool {}, so its own "
                                "price is not known; import a bill by node",
                                node.name.text(), node.pool.text()));
      }
      const Money& cost = charges[i].costs.*input_.cost;
      if (!prices) prices = NodePrices{.currency = cost.currency(), .ticks = {}};
      if (prices->currency != cost.currency()) {
        return fail(
            ErrorCode::kUnsupported,
            fmt::format("nodes of cluster {} are charged in {} and {}; a search compares "
                        "costs in one currency",
                        month_.cluster.text(), prices->currency.text(), cost.currency().text()));
      }
      prices->ticks[nodes.front()] += cost.ticks();
    }
    if (!prices) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("no charge of cluster {} is for the nodes of this search, so what "
                              "they cost is not known",
                              month_.cluster.text()));
    }
    for (const auto& [node, ticks] : prices->ticks) {
      if (ticks >= 0) continue;
      return fail(ErrorCode::kUnsupported,
                  fmt::format("node {} was credited more than it was charged in {}, so it has no "
                              "price",
                              fleet.any_fact(node).name.text(), input_.month));
    }
    return *std::move(prices);
  }

  // The machines with GPUs of a model (null: of any), and their nodes.
  struct Selected {
    std::vector<std::uint32_t> machines;
    std::vector<std::uint32_t> nodes;
  };
  static Selected select(const ReplayWorld& world, const FleetView& fleet, const GpuModel* model) {
    Selected selected;
    for (std::uint32_t i = 0; i < world.machines.size(); ++i) {
      const std::uint32_t node = world.node_of_machine[i];
      if (world.machines[i].gpus == 0) continue;
      if (model != nullptr && fleet.nodes()[node].model != model) continue;
      selected.machines.push_back(i);
      selected.nodes.push_back(node);
    }
    return selected;
  }
  // For the whole period, in which a replay has every node: what a node cost for a part of it is
  // scaled up.
  Result<std::vector<Int128>> prices_in_order(const Selected& selected, const FleetView& fleet,
                                              const NodePrices& prices) const {
    std::vector<Int128> ticks;
    for (const std::uint32_t node : selected.nodes) {
      const auto found = prices.ticks.find(node);
      if (found == prices.ticks.end()) {
        return fail(ErrorCode::kUnsupported,
                    fmt::format("node {} is not charged in {}, so what it costs is not known",
                                fleet.any_fact(node).name.text(), input_.month));
      }
      const Interval there = presence_of(fleet.nodes()[node]);
      ticks.push_back(found->second * input_.period.length_ms() / there.length_ms());
    }
    return ticks;
  }

  // From its first fact to the end of its last one; in the period, or the whole of it where the
  // facts say nothing of the period.
  Interval presence_of(const NodeView& node) const {
    const Node& last = *node.facts.back();
    const Instant begin = std::max(node.facts.front()->from, input_.period.begin());
    const Instant end = last.to ? std::min(*last.to, input_.period.end()) : input_.period.end();
    return begin < end ? Interval(begin, end) : input_.period;
  }

  Result<TierAnswer> cheapest_tiers(const ReplayWorld& world, const FleetView& fleet,
                                    std::span<const Charge> charges, const WhatIf& result) const {
    const TierGoal& goal = *input_.questions.tiers;
    const GpuModel* const model = goal.gpu_model.empty() ? nullptr : find_gpu_model(goal.gpu_model);
    const Selected selected = select(world, fleet, model);
    if (selected.machines.empty()) {
      return fail(ErrorCode::kConfig,
                  fmt::format("cluster {} has no node with {} whose tier could be chosen",
                              month_.cluster.text(), model == nullptr ? "GPUs" : model->name));
    }
    const NodePrices prices = TRY(prices_of(selected.nodes, fleet, charges));
    const TierNodes nodes{.machines = selected.machines,
                          .prices = TRY(prices_in_order(selected, fleet, prices))};
    const Scenario& scenario = input_.scenario;
    const TierReplay replay = [&](const ReplayWorld& tried,
                                  std::vector<bool> is_spot) -> Result<replay::Replay> {
      replay::Spot spot{.reclaimed_per_hour = goal.prices.reclaimed_per_hour,
                        .models = 0,
                        .of_machine = std::move(is_spot),
                        .replaced_after_us = scenario.spot.replaced_after_us,
                        .checkpoint_every_us = scenario.spot.checkpoint_every_us,
                        .until_us = period_us(tried.period),
                        .seed = scenario.scheduling.seed};
      TRY(begin(WhatIfProgress::Stage::kScenario, tried.jobs.size()));
      return replay_of(tried, scenario.scheduling, spot, {});
    };
    TierAnswer answer{
        .currency = prices.currency, .nodes = nodes.machines.size(), .price = 0, .points = {}};
    for (const Int128 price : nodes.prices) answer.price += price;
    answer.points = TRY(search_tiers(world, nodes, goal, result.calibrated.never_start, replay));
    return answer;
  }

  // The model that is cut: the one that is named, or the fleet's only one that can be.
  Result<const GpuModel*> model_to_cut(const ReplayWorld& world, const FleetView& fleet) const {
    const std::string& wanted = input_.questions.mig->gpu_model;
    std::map<std::string, const GpuModel*> models;
    for (const std::uint32_t node : select(world, fleet, nullptr).nodes) {
      const GpuModel* const model = fleet.nodes()[node].model;
      if (model == nullptr || model->mig_geometries.empty()) continue;
      if (wanted.empty() || find_gpu_model(wanted) == model) models[model->name] = model;
    }
    if (models.size() == 1) return models.begin()->second;
    std::string names;
    for (const auto& [name, model] : models) names += (names.empty() ? "" : ", ") + name;
    return fail(ErrorCode::kConfig,
                models.empty()
                    ? fmt::format("cluster {} has no node with {} that can be cut into instances",
                                  month_.cluster.text(), wanted.empty() ? "a GPU" : wanted)
                    : fmt::format("cluster {} has several models that can be cut: {}; name one "
                                  "with mig-model",
                                  month_.cluster.text(), names));
  }

  Result<MigAnswer> best_mig(const ReplayWorld& world,
                             const std::vector<std::optional<MigShare>>& slices,
                             const FleetView& fleet, std::span<const Charge> charges,
                             const WhatIf& result) const {
    const MigGoal& goal = *input_.questions.mig;
    const GpuModel* const model = TRY(model_to_cut(world, fleet));
    const Selected selected = select(world, fleet, model);
    const replay::ModelSet cut = replay::ModelSet{1}
                                 << world.machines[selected.machines.front()].model;
    // An instance has at least what the job's share of a GPU is.
    const auto slices_of = [](const CardShare& share, std::uint32_t of) {
      return static_cast<std::uint32_t>(
          (UInt128{share.units()} * of + CardShare::kUnitsPerCard - 1) / CardShare::kUnitsPerCard);
    };
    std::vector<MovedJob> moved;
    for (std::uint32_t job = 0; job < slices.size(); ++job) {
      if (!slices[job]) continue;
      const replay::ModelSet models = world.jobs[job].request.models;
      if (models != 0 && (models & cut) == 0) continue;  // it runs on another model
      moved.push_back({.job = job,
                       .size = {slices_of(slices[job]->compute, model->mig_compute_slices),
                                slices_of(slices[job]->memory, model->mig_memory_slices)}});
    }
    if (moved.empty()) {
      return fail(
          ErrorCode::kConfig,
          fmt::format("no job of slice runs on {}, so there is none to cut it for", model->name));
    }
    const NodePrices prices = TRY(prices_of(selected.nodes, fleet, charges));
    const MigNodes nodes{.model = model,
                         .machines = selected.machines,
                         .prices = TRY(prices_in_order(selected, fleet, prices))};
    const MigReplay replay = [&](const ReplayWorld& tried,
                                 bool first_fit) -> Result<replay::Replay> {
      replay::Scheduling scheduling = input_.scenario.scheduling;
      if (first_fit) scheduling.placement = replay::PlacementRule::kFirstFit;
      TRY(begin(WhatIfProgress::Stage::kScenario, tried.jobs.size()));
      return replay_of(tried, scheduling, {}, {});
    };
    MigAnswer answer{.currency = prices.currency,
                     .gpu_model = model->name,
                     .nodes = nodes.machines.size(),
                     .jobs = moved.size(),
                     .found = {}};
    answer.found =
        TRY(search_mig_layouts(world, moved, nodes, goal, result.calibrated.never_start, replay));
    return answer;
  }

  // Copies of jobs carry the labels of those that they were made from; whom they are for is known
  // here alone.
  Result<void> name_new_teams(const ReplayWorld& world, MethodCosts& costs) const {
    if (input_.scenario.new_teams.empty()) return {};
    for (const replay::Job& job : world.jobs) {
      if (std::ranges::none_of(input_.scenario.new_teams,
                               [&](const NewTeam& team) { return team.name == job.team; })) {
        continue;
      }
      const auto owner = costs.owners.find(WorkloadId(job.name));
      if (owner == costs.owners.end()) continue;
      TRY(owner->second.set(input_.team_dimension, job.team));
    }
    return {};
  }

  Result<void> run_scenario(const FleetView& ran_on, const TeamOf& team_of, WhatIf& result) const {
    ScenarioFacts facts = TRY(facts_of(input_.scenario));
    ClusterMonth changed = month_with(facts);
    const FleetView fleet(changed.nodes, changed.gpus, month_.catalog, month_.join_rules);
    const auto [world, slices, spot, pools] =
        TRY(scenario_world(changed, fleet, ran_on, team_of, input_.scenario));
    TRY(begin(WhatIfProgress::Stage::kScenario, world.jobs.size()));
    const replay::Replay replay = TRY(replay_of(world, input_.scenario.scheduling, spot, pools));
    result.would_be = figures_of(world, replay);
    TRY(go_on(is_stopped_));
    result.teams_would_be = team_figures(world, replay);
    result.jain_would_be = jain_index(result.teams_would_be);
    TRY(go_on(is_stopped_));
    result.moments_would_be = moments_of(world, replay);
    result.times = job_times(world, replay);
    result.varied = TRY(vary(changed, fleet, ran_on, team_of));
    if (input_.questions.fleet) {
      result.fleets = TRY(fewest_nodes(result.calibrated.never_start, ran_on, team_of));
    }
    if (input_.questions.tiers) {
      result.tiers = TRY(cheapest_tiers(world, fleet, facts.charges, result));
    }
    if (input_.questions.mig) {
      result.mig = TRY(best_mig(world, slices, fleet, facts.charges, result));
    }
    TRY(begin(WhatIfProgress::Stage::kCostWouldBe, 0));
    std::vector<Holding> holdings = holdings_of(world, replay, slices, month_.holdings);
    changed.holdings = holdings;
    if (!pools.empty()) {
      PoweredCharges powered =
          TRY(charges_while_on(std::move(facts.charges), world, fleet, replay, is_stopped_));
      facts.charges = std::move(powered.charges);
      changed.charges = facts.charges;
      result.charges_kept_whole = powered.kept_whole;
      result.nodes_at_average = powered.at_average;
    }
    result.cost_would_be = TRY(costs_of(changed));
    TRY(name_new_teams(world, result.cost_would_be));
    result.month = {.charges = std::move(facts.charges),
                    .nodes = std::move(facts.nodes),
                    .gpus = std::move(facts.gpus),
                    .holdings = std::move(holdings)};
    return begin(WhatIfProgress::Stage::kDone, 0);
  }

  const WhatIfInput& input_;
  const ClusterMonth& month_;
  StopCheck is_stopped_;
};

}  // namespace

std::string_view stage_text(WhatIfProgress::Stage stage) {
  switch (stage) {
    case WhatIfProgress::Stage::kCostWas:
      return "cost_was";
    case WhatIfProgress::Stage::kCalibration:
      return "calibration";
    case WhatIfProgress::Stage::kScenario:
      return "scenario";
    case WhatIfProgress::Stage::kCostWouldBe:
      return "cost_would_be";
    case WhatIfProgress::Stage::kDone:
      return "done";
  }
  CHECK(false, "every stage is listed");
}

Result<WhatIf> what_if(const WhatIfInput& input) { return WhatIfRun(input).run(); }

}  // namespace pennyweight::what_if
