#include "insight/what_if/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/check.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/gpu_speed.h"
#include "core/try.h"
#include "insight/compare/cluster_costs.h"
#include "insight/replay/simulate.h"
#include "insight/what_if/bought_commitments.h"
#include "insight/what_if/commitments.h"
#include "insight/what_if/mig_nodes.h"
#include "insight/what_if/model_speed.h"
#include "insight/what_if/node_pools.h"
#include "insight/what_if/node_prices.h"
#include "insight/what_if/racks.h"
#include "insight/what_if/replayed_holdings.h"
#include "insight/what_if/scenario_checks.h"
#include "insight/what_if/scenario_facts.h"
#include "insight/what_if/scenario_spot.h"

namespace pennyweight::what_if {
namespace {

class WhatIfReplays {
 public:
  explicit WhatIfReplays(const WhatIfInput& input) : input_(input), month_(input.cluster.facts) {
    if (input.progress != nullptr) {
      is_stopped_ = [watch = &input.progress->watch] { return watch->stop.load(); };
    }
  }

  Result<WhatIf> run() {
    WhatIf result;
    TRY(begin(WhatIfProgress::Stage::kCostWas, 0));
    result.cost_was = TRY(costs_of(month_, input_.policy));
    result.tiers_was = tier_costs(month_.charges, input_.cost);
    const TeamOf team_of = [&](const Holding& holding) {
      const auto owner = result.cost_was.owners.find(holding.workload);
      if (owner == result.cost_was.owners.end()) return std::string();
      return std::string(owner->second.find(input_.team_dimension).value_or(""));
    };
    const FleetView fleet(month_.nodes, month_.gpus, month_.catalog, month_.join_rules);
    // In what really ran, no job left its cluster.
    ReplayWorld world = TRY(make_replay_world(
        month_, fleet, fleet, input_.period, team_of,
        {.home = input_.clusters.empty() ? std::nullopt : std::optional(HomeScope::kCluster),
         .may_leave = false,
         .any_model = input_.scenario.any_model,
         .uses_limits = input_.calibration_limits}));
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
    TRY(check_teams(input_, world));
    TRY(check_power(input_, world, fleet));
    TRY(check_calibration(input_, result));
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
         .layouts = world.layouts,
         .spill_over = {.after_us =
                            input_.scenario.spill_over ? input_.scenario.spill_over->after_us : 0,
                        .places = world.places},
         .keep_runs = true,
         .watch = watch});
    TRY(go_on(is_stopped_));
    return replay;
  }

  Result<MethodCosts> costs_of(const ClusterMonth& month, const Policy& policy) const {
    const ComparedCluster cluster{.facts = month, .outages = input_.cluster.outages};
    const PolicyCostsOptions options{.month = input_.month,
                                     .cost = input_.cost,
                                     .threads = input_.threads,
                                     .left_out = {},
                                     .is_stopped = is_stopped_};
    if (!input_.clusters.empty()) {
      return cluster_costs(cluster, input_.clusters, policy, options);
    }
    auto costs = TRY(policy_costs(std::span(&cluster, 1), policy, options));
    return std::move(costs.front());
  }

  // What is measured of a replay besides: how long jobs may wait, how much they use their GPUs, and
  // what these draw.
  void add_measures(ReplayWorld& world, const FleetView& fleet) const {
    if (!input_.measured.empty()) {
      world.measured.assign(world.jobs.size(), {});
      for (std::size_t i = 0; i < world.jobs.size(); ++i) {
        if (!world.origins[i].is_as_held) continue;
        const auto found = input_.measured.find(month_.holdings[world.origins[i].holding].workload);
        if (found != input_.measured.end()) world.measured[i] = found->second;
      }
    }
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
                                       const Scenario& scenario, bool is_tried = false,
                                       std::optional<Bound> bound = {}) const {
    ModelSpeeds speeds = TRY(ModelSpeeds::of(scenario, bound));
    ReplayWorld world = TRY(make_replay_world(
        changed, fleet, ran_on, input_.period, team_of,
        {.home = scenario.spill_over ? std::optional(scenario.spill_over->scope) : std::nullopt,
         .any_model = scenario.any_model,
         .uses_limits = scenario.uses_limits,
         .speeds = std::move(speeds)}));
    TRY(check_places(input_, world, scenario));
    TRY(check_racks(input_, world, scenario));
    TRY(change_demand(world, scenario, is_stopped_));
    auto slices = TRY(change_slices(world, fleet, scenario));
    for (replay::Job& job : world.jobs) job.restart_us = scenario.restart_us;
    set_racks(world, scenario.rack_nodes);
    TRY(cut_nodes(world, fleet, scenario, slices));
    TRY(check_horizon(world));
    add_measures(world, fleet);
    const replay::Spot spot = TRY(scenario_spot(input_, world, fleet));
    auto pools = TRY(node_pools(world, fleet, scenario, is_tried));
    return ScenarioWorld{std::move(world), std::move(slices), spot, std::move(pools)};
  }

  // Those that were asked for; and where nobody says what limits some jobs, one for each bound.
  std::vector<Variation> variations_with_bounds(const ReplayWorld& world) const {
    std::vector<Variation> variations = input_.variations;
    const bool has_unknown = std::ranges::any_of(world.speeds, [](const SpeedUse& use) {
      return use.bound == Bound::kUnknown && !use.stated_percent;
    });
    if (!has_unknown) return variations;
    for (const Bound bound : {Bound::kCompute, Bound::kMemory}) {
      variations.push_back({.seed = input_.scenario.scheduling.seed, .bound = bound});
    }
    return variations;
  }

  // The scenario again, with another seed or demand. Its bill is not divided again.
  Result<std::vector<JobFigures>> vary(const ClusterMonth& changed, const FleetView& fleet,
                                       const FleetView& ran_on, const TeamOf& team_of,
                                       const std::vector<Variation>& variations) const {
    std::vector<JobFigures> figures;
    for (const Variation& variation : variations) {
      Scenario scenario = input_.scenario;
      scenario.scheduling.seed = variation.seed;
      if (variation.demand_percent != 100) {
        scenario.demand.push_back({.team = {}, .percent = variation.demand_percent});
      }
      ScenarioWorld varied =
          TRY(scenario_world(changed, fleet, ran_on, team_of, scenario, false, variation.bound));
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
    const ReplacedFacts replaced = TRY(replace_models(month_, input_.period, scenario));
    ClusterMonth month = month_;
    month.nodes = replaced.nodes;
    month.gpus = replaced.gpus;
    ScenarioFacts facts =
        TRY(change_fleet(month, input_.period, scenario, is_stopped_, input_.rate_on));
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
    auto bought = TRY(buy_commitments(std::move(facts.charges), changed, fleet, input_.period,
                                      scenario, is_stopped_));
    for (const Charge& charge : bought.charges) {
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

  Result<TierAnswer> cheapest_tiers(const ReplayWorld& world, const FleetView& fleet,
                                    std::span<const Charge> charges, const WhatIf& result) const {
    const TierGoal& goal = *input_.questions.tiers;
    const GpuModel* const model = goal.gpu_model.empty() ? nullptr : find_gpu_model(goal.gpu_model);
    const SelectedNodes selected = select_nodes(world, fleet, model);
    if (selected.machines.empty()) {
      return fail(ErrorCode::kConfig,
                  fmt::format("cluster {} has no node with {} whose tier could be chosen",
                              month_.cluster.text(), model == nullptr ? "GPUs" : model->name));
    }
    const NodePrices prices = TRY(node_prices(input_, selected.nodes, fleet, charges, is_stopped_));
    const TierNodes nodes{.machines = selected.machines,
                          .prices = TRY(prices_in_order(input_, selected, fleet, prices))};
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
    for (const std::uint32_t node : select_nodes(world, fleet, nullptr).nodes) {
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
    const SelectedNodes selected = select_nodes(world, fleet, model);
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
    const NodePrices prices = TRY(node_prices(input_, selected.nodes, fleet, charges, is_stopped_));
    const MigNodes nodes{.model = model,
                         .machines = selected.machines,
                         .prices = TRY(prices_in_order(input_, selected, fleet, prices))};
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
    result.prices = std::move(facts.prices);
    result.speeds = world.speeds;
    result.varied = TRY(vary(changed, fleet, ran_on, team_of, variations_with_bounds(world)));
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
    std::vector<Holding> holdings = replayed_holdings(world, replay, slices, month_.holdings);
    changed.holdings = holdings;
    if (!pools.empty()) {
      PoweredCharges powered =
          TRY(charges_while_on(std::move(facts.charges), world, fleet, replay, is_stopped_));
      facts.charges = std::move(powered.charges);
      result.charges_kept_whole = powered.kept_whole;
      result.nodes_at_average = powered.at_average;
    }
    auto bought = TRY(buy_commitments(std::move(facts.charges), changed, fleet, input_.period,
                                      input_.scenario, is_stopped_));
    facts.charges = std::move(bought.charges);
    changed.charges = facts.charges;
    result.commitments = std::move(bought.commitments);
    result.cost_would_be = TRY(costs_of(changed, input_.scenario_policy.value_or(input_.policy)));
    result.tiers_would_be = tier_costs(facts.charges, input_.cost);
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

Result<WhatIf> what_if(const WhatIfInput& input) { return WhatIfReplays(input).run(); }

}  // namespace pennyweight::what_if
