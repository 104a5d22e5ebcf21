#include "insight/what_if/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/check.h"
#include "core/try.h"
#include "insight/replay/simulate.h"
#include "insight/what_if/scenario_facts.h"

namespace pennyweight::what_if {
namespace {

constexpr std::uint64_t kPerMille = 1000;

std::int64_t period_us(const Interval& period) {
  return static_cast<std::int64_t>(period.length_ms()) * 1000;
}

std::int64_t quantile(const std::vector<std::int64_t>& sorted, std::uint64_t per_mille) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(sorted.size() * per_mille / kPerMille))];
}

TimeFigures time_figures(std::vector<std::int64_t>& times) {
  TimeFigures figures;
  if (times.empty()) return figures;
  std::sort(times.begin(), times.end());
  Int128 sum = 0;
  for (const std::int64_t time : times) sum += time;
  figures.mean = static_cast<std::int64_t>(sum / static_cast<Int128>(times.size()));
  figures.p50 = quantile(times, 500);
  figures.p95 = quantile(times, 950);
  figures.p99 = quantile(times, 990);
  return figures;
}

std::vector<std::int64_t> percentiles(const std::vector<std::int64_t>& sorted) {
  std::vector<std::int64_t> values;
  for (std::uint64_t percent = 0; percent <= 100 && !sorted.empty(); ++percent) {
    values.push_back(quantile(sorted, percent * 10));
  }
  return values;
}

// From submission to first start, waiting before the period included.
std::int64_t wait_of(const ReplayWorld& world, const replay::Replay& replay, std::size_t job) {
  return *replay.jobs[job].first_start_us - world.jobs[job].submit_us +
         world.origins[job].before_us;
}
std::int64_t completion_of(const ReplayWorld& world, const replay::Replay& replay,
                           std::size_t job) {
  return replay.jobs[job].end_us - world.jobs[job].submit_us + world.origins[job].before_us;
}

JobFigures figures_of(const ReplayWorld& world, const replay::Replay& replay) {
  const std::int64_t end = period_us(world.period);
  JobFigures figures;
  figures.jobs = world.jobs.size();
  figures.makespan = replay.end_us;
  figures.capacity = static_cast<Int128>(replay.capacity_milli_gpus) * static_cast<Int128>(end);
  std::vector<std::int64_t> waits;
  std::vector<std::int64_t> completions;
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const replay::JobResult& result = replay.jobs[i];
    const auto gpus = static_cast<Int128>(world.jobs[i].request.milli_gpus());
    figures.interruptions += result.interruptions;
    figures.unfinished += gpus * static_cast<Int128>(world.jobs[i].work_us);
    if (!result.first_start_us) {
      ++figures.never_start;
      continue;
    }
    waits.push_back(wait_of(world, replay, i));
    completions.push_back(completion_of(world, replay, i));
  }
  for (const replay::JobRun& run : replay.runs) {
    const std::int64_t until = std::min(run.end_us, end);
    if (until <= run.begin_us) continue;
    const auto gpus = static_cast<Int128>(world.jobs[run.job].request.milli_gpus());
    const std::int64_t span = until - run.begin_us;
    figures.held += gpus * static_cast<Int128>(span);
    // Nodes are taken back within the period only: a run beyond its end has lost nothing.
    const std::int64_t lost = run.end_us <= end ? run.lost_us : 0;
    figures.unfinished -= gpus * static_cast<Int128>(span - std::min(span, run.restart_us) - lost);
    figures.lost += gpus * static_cast<Int128>(lost);
  }
  for (const replay::Outage& outage : replay.outages) {
    const std::uint64_t milli =
        std::uint64_t{replay::kMilliPerGpu} * world.machines[outage.machine].gpus;
    figures.unavailable += static_cast<Int128>(milli) *
                           static_cast<Int128>(std::min(outage.end_us, end) - outage.begin_us);
  }
  CHECK(figures.unfinished >= 0, "no more work is done than there was");
  figures.wait = time_figures(waits);
  figures.wait_percentiles = percentiles(waits);
  figures.completion = time_figures(completions);
  return figures;
}

FiguresByTeam team_figures(const ReplayWorld& world, const replay::Replay& replay) {
  const std::int64_t end = period_us(world.period);
  struct Times {
    std::vector<std::int64_t> waits;
    std::vector<std::int64_t> completions;
    Int128 completion = 0;
    Int128 work = 0;
  };
  FiguresByTeam teams;
  std::map<std::string, Times> times;
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const replay::Job& job = world.jobs[i];
    TeamFigures& team = teams[job.team];
    ++team.jobs;
    if (!replay.jobs[i].first_start_us) {
      ++team.never_start;
      continue;
    }
    Times& of_team = times[job.team];
    of_team.waits.push_back(wait_of(world, replay, i));
    of_team.completions.push_back(completion_of(world, replay, i));
    of_team.completion += of_team.completions.back();
    of_team.work += job.work_us;
  }
  for (const replay::JobRun& run : replay.runs) {
    const std::int64_t until = std::min(run.end_us, end);
    if (until <= run.begin_us) continue;
    const replay::Job& job = world.jobs[run.job];
    teams[job.team].held +=
        static_cast<Int128>(job.request.milli_gpus()) * static_cast<Int128>(until - run.begin_us);
  }
  for (auto& [name, of_team] : times) {
    TeamFigures& team = teams[name];
    team.wait = time_figures(of_team.waits);
    team.completion = time_figures(of_team.completions);
    team.stretch_milli = static_cast<std::uint64_t>(of_team.completion * 1000 / of_team.work);
  }
  return teams;
}

// Jain's index of how much longer the teams' jobs took, in millionths: 1,000,000 where all teams
// were stretched alike, 1,000,000 / teams where one alone was.
std::uint64_t jain_index(const FiguresByTeam& teams) {
  UInt128 sum = 0;
  UInt128 squares = 0;
  std::uint64_t count = 0;
  for (const auto& [name, team] : teams) {
    if (team.jobs == team.never_start) continue;
    // A stretch beyond a million is as unfair as one of a million.
    const std::uint64_t stretch = std::min<std::uint64_t>(team.stretch_milli, 1'000'000'000);
    sum += stretch;
    squares += UInt128{stretch} * stretch;
    ++count;
  }
  if (count == 0 || squares == 0) return 1'000'000;
  return static_cast<std::uint64_t>(sum * sum * 1'000'000 / (squares * count));
}

// GPUs held and jobs waiting, at evenly spaced moments of the period.
std::vector<Moment> moments_of(const ReplayWorld& world, const replay::Replay& replay) {
  const std::int64_t end = period_us(world.period);
  std::vector<Moment> moments(kMomentsMax);
  const auto step = std::max<std::int64_t>(1, end / static_cast<std::int64_t>(kMomentsMax));
  for (std::size_t i = 0; i < moments.size(); ++i) {
    moments[i].at_us = static_cast<std::int64_t>(i) * step;
  }
  // The first moment at or after `us`.
  const auto moment_at = [&](std::int64_t us) {
    return static_cast<std::size_t>(
        std::min<std::int64_t>((us + step - 1) / step, static_cast<std::int64_t>(kMomentsMax)));
  };
  std::vector<std::int64_t> held(kMomentsMax + 1, 0);  // differences
  std::vector<std::int64_t> waiting(kMomentsMax + 1, 0);
  for (const replay::JobRun& run : replay.runs) {
    const auto milli = static_cast<std::int64_t>(world.jobs[run.job].request.milli_gpus());
    held[moment_at(run.begin_us)] += milli;
    held[moment_at(run.end_us)] -= milli;
  }
  // A job waits from its submission on, except while it runs.
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    if (!replay.jobs[i].first_start_us) continue;
    ++waiting[moment_at(world.jobs[i].submit_us)];
    --waiting[moment_at(replay.jobs[i].end_us)];
  }
  for (const replay::JobRun& run : replay.runs) {
    --waiting[moment_at(run.begin_us)];
    ++waiting[moment_at(run.end_us)];
  }
  std::int64_t held_now = 0;
  std::int64_t waiting_now = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    held_now += held[i];
    waiting_now += waiting[i];
    CHECK(held_now >= 0 && waiting_now >= 0, "nothing ends before it begins");
    moments[i].held_milli = static_cast<std::uint64_t>(held_now);
    moments[i].waiting = static_cast<std::uint64_t>(waiting_now);
  }
  return moments;
}

JobFigures figures_as_it_was(const ReplayWorld& world) {
  JobFigures figures;
  figures.jobs = world.jobs.size();
  for (const replay::Machine& machine : world.machines) {
    figures.capacity += static_cast<Int128>(machine.gpus * replay::kMilliPerGpu) *
                        static_cast<Int128>(period_us(world.period));
  }
  std::vector<std::int64_t> waits;
  std::vector<std::int64_t> completions;
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const replay::Job& job = world.jobs[i];
    figures.held +=
        static_cast<Int128>(job.request.milli_gpus()) * static_cast<Int128>(job.work_us);
    const std::int64_t waited = world.origins[i].waited_us.value_or(0);
    waits.push_back(waited);
    completions.push_back(waited + job.work_us);
    const std::int64_t end = job.submit_us + waited - world.origins[i].before_us + job.work_us;
    figures.makespan = std::max(figures.makespan, end);
  }
  figures.wait = time_figures(waits);
  figures.wait_percentiles = percentiles(waits);
  figures.completion = time_figures(completions);
  return figures;
}

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
    const ReplayWorld world = TRY(make_replay_world(
        month_, fleet, fleet, input_.period, team_of,
        {.any_model = input_.scenario.any_model, .uses_limits = input_.calibration_limits}));
    if (world.jobs.empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("cluster {} held nothing in {} that could be replayed",
                              month_.cluster.text(), input_.month));
    }
    result.left_as_they_were = world.left_as_they_were.size();
    result.rounded_up = world.rounded_up;
    result.partly_there = world.partly_there;
    result.was = figures_as_it_was(world);
    result.with_submit = static_cast<std::uint64_t>(
        std::count_if(world.origins.begin(), world.origins.end(),
                      [](const JobOrigin& origin) { return origin.waited_us.has_value(); }));
    TRY(check_horizon(world));
    TRY(begin(WhatIfProgress::Stage::kCalibration, world.jobs.size()));
    const replay::Replay calibrated = TRY(replay_of(world, input_.calibration, {}));
    result.calibrated = figures_of(world, calibrated);
    TRY(go_on(is_stopped_));
    result.teams_calibrated = team_figures(world, calibrated);
    result.jain_was = jain_index(result.teams_calibrated);
    TRY(go_on(is_stopped_));
    result.moments_calibrated = moments_of(world, calibrated);
    TRY(check_teams(world));
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
                                   const replay::Spot& spot) const {
    replay::Watch* watch = input_.progress == nullptr ? nullptr : &input_.progress->watch;
    replay::Replay replay = replay::simulate(
        world.jobs, world.machines,
        {.scheduling = scheduling, .spot = spot, .keep_runs = true, .watch = watch});
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

  // A change that reaches nobody is a mistake, not a change.
  Result<void> check_teams(const ReplayWorld& world) const {
    const auto check = [&](const std::string& team, std::string_view what) -> Result<void> {
      if (team.empty()) return {};
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

  // The scenario's jobs on its fleet, and what it takes to replay them.
  struct ScenarioWorld {
    ReplayWorld world;
    std::vector<std::optional<MigShare>> slices;
    replay::Spot spot;
  };
  Result<ScenarioWorld> scenario_world(const ClusterMonth& changed, const FleetView& fleet,
                                       const FleetView& ran_on, const TeamOf& team_of,
                                       const Scenario& scenario) const {
    ReplayWorld world = TRY(
        make_replay_world(changed, fleet, ran_on, input_.period, team_of,
                          {.any_model = scenario.any_model, .uses_limits = scenario.uses_limits}));
    TRY(change_demand(world, scenario, is_stopped_));
    auto slices = TRY(change_slices(world, fleet, scenario));
    for (replay::Job& job : world.jobs) job.restart_us = scenario.restart_us;
    TRY(check_horizon(world));
    const replay::Spot spot = TRY(spot_of(world, fleet));
    return ScenarioWorld{std::move(world), std::move(slices), spot};
  }

  // The scenario again, with another seed or demand. Its bill is the same: the nodes are.
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
      const replay::Replay replay = TRY(replay_of(varied.world, scenario.scheduling, varied.spot));
      figures.push_back(figures_of(varied.world, replay));
    }
    return figures;
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
    const FleetGoal& goal = *input_.fleet_goal;
    if (change != 0) {
      scenario.fleet.push_back({.nodes = change, .pool = {}, .gpu_model = goal.gpu_model});
    }
    const ScenarioFacts facts = TRY(change_fleet(month_, input_.period, scenario, is_stopped_));
    const ClusterMonth changed = month_with(facts);
    const FleetView fleet(changed.nodes, changed.gpus, month_.catalog, month_.join_rules);
    const ScenarioWorld tried = TRY(scenario_world(changed, fleet, ran_on, team_of, scenario));
    TRY(begin(WhatIfProgress::Stage::kScenario, tried.world.jobs.size()));
    const replay::Replay replay = TRY(replay_of(tried.world, scenario.scheduling, tried.spot));
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
                              month_.cluster.text(), input_.fleet_goal->gpu_model));
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

  Result<void> run_scenario(const FleetView& ran_on, const TeamOf& team_of, WhatIf& result) const {
    ScenarioFacts facts = TRY(change_fleet(month_, input_.period, input_.scenario, is_stopped_));
    ClusterMonth changed = month_with(facts);
    const FleetView fleet(changed.nodes, changed.gpus, month_.catalog, month_.join_rules);
    const auto [world, slices, spot] =
        TRY(scenario_world(changed, fleet, ran_on, team_of, input_.scenario));
    TRY(begin(WhatIfProgress::Stage::kScenario, world.jobs.size()));
    const replay::Replay replay = TRY(replay_of(world, input_.scenario.scheduling, spot));
    result.would_be = figures_of(world, replay);
    TRY(go_on(is_stopped_));
    result.teams_would_be = team_figures(world, replay);
    result.jain_would_be = jain_index(result.teams_would_be);
    TRY(go_on(is_stopped_));
    result.moments_would_be = moments_of(world, replay);
    result.varied = TRY(vary(changed, fleet, ran_on, team_of));
    if (input_.fleet_goal) {
      result.fleets = TRY(fewest_nodes(result.calibrated.never_start, ran_on, team_of));
    }
    TRY(begin(WhatIfProgress::Stage::kCostWouldBe, 0));
    std::vector<Holding> holdings = holdings_of(world, replay, slices, month_.holdings);
    changed.holdings = holdings;
    result.cost_would_be = TRY(costs_of(changed));
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
