#include "insight/what_if/scenario_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "allocation/pricing/rate_card.h"
#include "core/gpu/gpu_model.h"
#include "core/try.h"
#include "insight/what_if/node_prices.h"

namespace pennyweight::what_if {
namespace {

// A limit for everybody else, where somebody else is.
Result<void> check_others(const WhatIfInput& input, const ReplayWorld& world) {
  std::set<std::string_view> named;
  for (const QueueLimit& limit : input.scenario.queue_limits) named.insert(limit.team);
  const bool is_any = std::ranges::any_of(world.jobs, [&](const replay::Job& job) {
    return job.team.empty() || !named.contains(job.team);
  });
  if (is_any) return {};
  return fail(ErrorCode::kConfig,
              "each team has a limit of waiting of its own, so one for the others changes nothing");
}

Result<void> check_waits(const WhatIfInput& input, const WhatIf& result) {
  if (result.with_submit * 2 < result.was.jobs) return {};
  const auto check = [&](std::string_view name, std::int64_t was,
                         std::int64_t replayed) -> Result<void> {
    const std::int64_t off = was < replayed ? replayed - was : was - replayed;
    if (off <= kWaitErrorUs || Int128{off} * 100 <= Int128{was} * input.wait_error_percent_max) {
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

}  // namespace

Result<void> check_teams(const WhatIfInput& input, const ReplayWorld& world) {
  const auto check = [&](const std::string& team, std::string_view what) -> Result<void> {
    const auto is_new = [&](const NewTeam& other) { return other.name == team; };
    if (team.empty() || std::ranges::any_of(input.scenario.new_teams, is_new)) return {};
    const bool is_there = std::any_of(world.jobs.begin(), world.jobs.end(),
                                      [&](const replay::Job& job) { return job.team == team; });
    if (is_there) return {};
    return fail(ErrorCode::kConfig,
                fmt::format("no job of {} in {} has the {} '{}', so {} changes nothing",
                            input.cluster.facts.cluster.text(), input.month, input.team_dimension,
                            team, what));
  };
  for (const DemandChange& change : input.scenario.demand) TRY(check(change.team, "its demand"));
  for (const auto& [team, weight] : input.scenario.scheduling.team_weights) {
    TRY(check(team, "its weight"));
  }
  for (const SliceChange& change : input.scenario.slices) TRY(check(change.team, "its slice"));
  for (const BoundChange& change : input.scenario.bounds) {
    TRY(check(change.team, "its bound"));
    const auto fits = [&](const replay::Job& job) {
      return fits_pattern(change.workload, job.name);
    };
    if (change.workload.empty() || std::ranges::any_of(world.jobs, fits)) continue;
    return fail(ErrorCode::kConfig,
                fmt::format("no job of {} in {} fits workload:{}, so its bound changes nothing",
                            input.cluster.facts.cluster.text(), input.month, change.workload));
  }
  for (const QueueLimit& limit : input.scenario.queue_limits) {
    TRY(check(limit.team, "its limit of waiting"));
    if (limit.team.empty()) TRY(check_others(input, world));
  }
  const replay::AdmissionRules& admission = input.scenario.scheduling.admission;
  for (const auto& [team, quota] : admission.quotas) TRY(check(team, "its quota"));
  for (const auto& [team, window] : admission.windows) TRY(check(team, "its part of the day"));
  return {};
}

Result<void> check_power(const WhatIfInput& input, const ReplayWorld& world,
                         const FleetView& fleet) {
  for (const PowerRate& rate : input.scenario.power) {
    const GpuModel* const model = find_gpu_model(rate.gpu_model);
    if (!select_nodes(world, fleet, model).nodes.empty()) continue;
    const auto is_of = [&](const ModelChange& change) {
      return find_gpu_model(change.to) == model;
    };
    if (std::ranges::any_of(input.scenario.replaced_models, is_of)) continue;
    return fail(ErrorCode::kConfig,
                fmt::format("cluster {} has no node with {}, so its power changes nothing",
                            input.cluster.facts.cluster.text(), rate.gpu_model));
  }
  return {};
}

Result<void> check_calibration(const WhatIfInput& input, const WhatIf& result) {
  const Int128 off = result.was.held - result.calibrated.held;
  const Int128 size = off < 0 ? -off : off;
  if (size * 100 <= result.was.held * static_cast<Int128>(input.error_percent_max)) {
    return check_waits(input, result);
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

Result<void> check_places(const WhatIfInput& input, const ReplayWorld& world,
                          const Scenario& scenario) {
  if (!scenario.spill_over || world.place_count > 1) return {};
  return fail(
      ErrorCode::kConfig,
      fmt::format("all nodes of cluster {} are in one {}, so spilling over changes nothing",
                  input.cluster.facts.cluster.text(), home_scope_text(scenario.spill_over->scope)));
}

Result<void> check_racks(const WhatIfInput& input, const ReplayWorld& world,
                         const Scenario& scenario) {
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
                                world.machines.size(), input.cluster.facts.cluster.text())
                  : fmt::format("no job of {} needs several nodes of cluster {}, so same-rack "
                                "changes nothing",
                                input.month, input.cluster.facts.cluster.text()));
}

}  // namespace pennyweight::what_if
