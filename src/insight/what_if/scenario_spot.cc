#include "insight/what_if/scenario_spot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "core/gpu/gpu_model.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/what_if/scenario_facts.h"

namespace pennyweight::what_if {
namespace {

// The part of the outage that lies in the period.
Result<void> plan_outage(const WhatIfInput& input, const OutageChange& outage,
                         const ReplayWorld& world, const FleetView& fleet, replay::Spot& spot) {
  const std::int64_t period_begin_ms = world.period.begin().time_since_epoch().count();
  const std::int64_t begin = (outage.begin_ms - period_begin_ms) * 1000;
  const std::int64_t end = begin + outage.length_us;
  const std::int64_t from = std::max<std::int64_t>(0, begin);
  if (end <= 0 || from >= period_us(world.period)) {
    return fail(ErrorCode::kConfig,
                fmt::format("an outage of {} lies outside {}, so it changes nothing",
                            input.cluster.facts.cluster.text(), input.month));
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
                          outage.nodes, found, input.cluster.facts.cluster.text()));
}

// The trace's interruptions that reach into the period; as an outage does, each may end after it.
Result<void> plan_interruptions(const WhatIfInput& input, const ReplayWorld& world,
                                replay::Spot& spot) {
  if (input.scenario.interruptions.empty()) return {};
  std::map<std::string_view, std::uint32_t> machines;
  for (std::uint32_t i = 0; i < world.machines.size(); ++i) {
    machines.emplace(world.machines[i].name, i);
  }
  const std::int64_t period_begin_ms = world.period.begin().time_since_epoch().count();
  const std::int64_t period_end_ms = world.period.end().time_since_epoch().count();
  std::uint64_t in_period = 0;
  std::uint64_t unknown = 0;
  std::string_view first_unknown;
  for (const NodeInterruption& one : input.scenario.interruptions) {
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
    return fail(
        ErrorCode::kConfig,
        fmt::format("no interruption of the trace lies in {}, so it changes nothing", input.month));
  }
  if (unknown == 0) return {};
  return fail(ErrorCode::kConfig,
              fmt::format("{} of {} interruptions in {} are of nodes that cluster {} does not "
                          "have, such as '{}'; leave them out, or name nodes as the ledger does",
                          unknown, in_period, input.month, input.cluster.facts.cluster.text(),
                          printable_text(first_unknown, 100)));
}

}  // namespace

Result<replay::Spot> scenario_spot(const WhatIfInput& input, const ReplayWorld& world,
                                   const FleetView& fleet) {
  const SpotChange& change = input.scenario.spot;
  replay::Spot spot{.reclaimed_per_hour = change.reclaimed_per_hour,
                    .models = 0,
                    .replaced_after_us = change.replaced_after_us,
                    .checkpoint_every_us = change.checkpoint_every_us,
                    .until_us = period_us(world.period),
                    .seed = change.seed};
  for (const OutageChange& outage : input.scenario.outages) {
    TRY(plan_outage(input, outage, world, fleet, spot));
  }
  TRY(plan_interruptions(input, world, spot));
  if (change.gpu_model.empty() || change.reclaimed_per_hour == 0) return spot;
  for (std::size_t i = 0; i < world.machines.size(); ++i) {
    if (fleet.nodes()[world.node_of_machine[i]].model == find_gpu_model(change.gpu_model)) {
      spot.models |= replay::ModelSet{1} << world.machines[i].model;
    }
  }
  if (spot.models != 0) return spot;
  return fail(ErrorCode::kConfig,
              fmt::format("cluster {} has no node with {}, so none can be spot capacity",
                          input.cluster.facts.cluster.text(), change.gpu_model));
}

}  // namespace pennyweight::what_if
