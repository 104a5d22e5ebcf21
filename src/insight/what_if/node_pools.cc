#include "insight/what_if/node_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/check.h"
#include "core/split.h"
#include "core/try.h"
#include "insight/what_if/scenario_facts.h"

namespace pennyweight::what_if {
namespace {

std::string pool_in_words(const AutoscaleChange& change) {
  std::string words = "nodes";
  if (!change.gpu_model.empty()) words += " with " + change.gpu_model;
  if (!change.pool.empty()) words += " of pool " + change.pool;
  return words;
}

class PoweredCharger {
 public:
  PoweredCharger(const ReplayWorld& world, const FleetView& fleet, const replay::Replay& replay)
      : period_(world.period), fleet_(fleet) {
    const auto node_of = [&](std::uint32_t machine) { return world.node_of_machine[machine]; };
    for (const std::uint32_t machine : replay.never_on) on_[node_of(machine)];
    for (const replay::PowerSpan& span : replay.powered) {
      std::vector<Interval>& spans = on_[node_of(span.machine)];
      const auto at = [&](std::int64_t us) {
        return period_.begin() + std::chrono::milliseconds(us / 1000);
      };
      // Whole milliseconds; a node that starts in the one in which it was stopped is charged once.
      Instant begin = at(span.begin_us);
      if (!spans.empty()) begin = std::max(begin, spans.back().end());
      const Instant end =
          span.end_us ? std::min(at(*span.end_us + 999), period_.end()) : period_.end();
      if (const auto part = Interval::of(begin, end)) spans.push_back(*part);
    }
  }

  // Each node of a pool is charged all the time, so that what it costs is known whenever it is on.
  Result<void> check_charged(std::span<const Charge> charges, const StopCheck& is_stopped) const {
    std::map<std::uint32_t, std::vector<Interval>> charged;
    for (std::size_t i = 0; i < charges.size(); ++i) {
      if (i % 4096 == 0) TRY(go_on(is_stopped));
      const auto part = charges[i].charge_period.overlap(period_);
      if (!part) continue;
      for (const std::uint32_t node : fleet_.nodes_of(charges[i])) {
        if (on_.contains(node)) charged[node].push_back(*part);
      }
    }
    for (const auto& [node, spans] : on_) {
      std::vector<Interval>& parts = charged[node];
      std::ranges::sort(parts);
      Instant until = period_.begin();
      for (const Interval& part : parts) {
        if (part.begin() > until) break;
        until = std::max(until, part.end());
      }
      if (until >= period_.end()) continue;
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("node {} is not charged from {} on, so what it would cost while it is "
                      "on then is not known; autoscale nodes that are charged all the time, "
                      "chosen by pool or by model",
                      fleet_.any_fact(node).name.text(), to_text(until)));
    }
    return {};
  }

  Result<void> add(Charge charge, PoweredCharges& result) const {
    const auto nodes = fleet_.nodes_of(charge);
    const bool is_powered =
        std::ranges::any_of(nodes, [&](std::uint32_t node) { return on_.contains(node); });
    if (!is_powered) {
      result.charges.push_back(std::move(charge));
      return {};
    }
    if (nodes.size() > 1) {
      const Node& node = fleet_.any_fact(nodes.front());
      return fail(ErrorCode::kUnsupported,
                  fmt::format("node {} is charged together with others as pool {}, so its own "
                              "price is not known, nor what is saved while it is off; import a "
                              "bill by node",
                              node.name.text(), node.pool.text()));
    }
    if (!goes_by_time(charge)) {
      ++result.kept_whole;
      result.charges.push_back(std::move(charge));
      return {};
    }
    cut(charge, on_.at(nodes.front()), result);
    return {};
  }

 private:
  // Whether less of it is charged while the node is off: fees, taxes, credits and what a commitment
  // covers are charged all the same, and so is what reaches out of the period.
  bool goes_by_time(const Charge& charge) const {
    return charge.charge_category == ChargeCategory::kUsage &&
           charge.commitment_discount_id.empty() &&
           charge.charge_period.overlap(period_) == charge.charge_period;
  }

  static void cut(const Charge& charge, std::span<const Interval> spans, PoweredCharges& result) {
    std::vector<Interval> parts;
    std::vector<Weight> weights;
    std::uint64_t on_ms = 0;
    for (const Interval& span : spans) {
      const auto part = span.overlap(charge.charge_period);
      if (!part) continue;
      parts.push_back(*part);
      weights.emplace_back(part->length_ms());
      on_ms += part->length_ms();
    }
    const std::uint64_t all_ms = charge.charge_period.length_ms();
    CHECK(on_ms <= all_ms, "a node is on once at a time");
    weights.emplace_back(all_ms - on_ms);
    std::vector<Charge> pieces(parts.size(), charge);
    for (Money Costs::* cost :
         {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
      const std::vector<Money> shares = split(charge.costs.*cost, weights);
      for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].costs.*cost = shares[i];
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      pieces[i].charge_period = parts[i];
      if (parts[i] != charge.charge_period) {
        pieces[i].id = numbered(charge.id.hash, (i + 1) * kPieceStep);
      }
      result.charges.push_back(std::move(pieces[i]));
    }
  }

  // Far from the numbers of copies of a charge.
  static constexpr std::uint64_t kPieceStep = std::uint64_t{1} << 32;
  const Interval period_;
  const FleetView& fleet_;
  std::map<std::uint32_t, std::vector<Interval>> on_;  // by node
};

}  // namespace

Result<std::vector<replay::NodePool>> node_pools(const ReplayWorld& world, const FleetView& fleet,
                                                 const Scenario& scenario) {
  std::vector<replay::NodePool> pools;
  std::map<std::uint32_t, std::size_t> pool_of;  // by machine
  for (const AutoscaleChange& change : scenario.autoscaled) {
    const GpuModel* const model =
        change.gpu_model.empty() ? nullptr : find_gpu_model(change.gpu_model);
    replay::NodePool pool{.machines = {},
                          .least = change.least,
                          .start_us = change.start_us,
                          .kept_us = change.kept_us};
    for (std::uint32_t i = 0; i < world.machines.size(); ++i) {
      // A node without GPUs is asked for nothing here, and one that others need stays.
      if (world.machines[i].gpus == 0 || world.needed_nodes.contains(world.machines[i].name)) {
        continue;
      }
      const NodeView& view = fleet.nodes()[world.node_of_machine[i]];
      if (model != nullptr && view.model != model) continue;
      const Node* const last = last_fact(view, world.period);
      if (!change.pool.empty() && (last == nullptr || last->pool.text() != change.pool)) continue;
      if (!pool_of.try_emplace(i, pools.size()).second) {
        return fail(ErrorCode::kConfig,
                    fmt::format("node {} would be in two autoscaled pools; say which nodes each "
                                "has, by pool or by model",
                                world.machines[i].name));
      }
      pool.machines.push_back(i);
    }
    if (pool.machines.size() <= pool.least) {
      return fail(ErrorCode::kConfig,
                  fmt::format("{} of {} {} are always on, so autoscaling changes nothing; keep "
                              "fewer on, or add some with nodes",
                              change.least, pool.machines.size(), pool_in_words(change)));
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

Result<PoweredCharges> charges_while_on(std::vector<Charge> charges, const ReplayWorld& world,
                                        const FleetView& fleet, const replay::Replay& replay,
                                        const StopCheck& is_stopped) {
  const PoweredCharger charger(world, fleet, replay);
  TRY(charger.check_charged(charges, is_stopped));
  PoweredCharges result;
  result.charges.reserve(charges.size());
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if (i % 4096 == 0) TRY(go_on(is_stopped));
    TRY(charger.add(std::move(charges[i]), result));
    if (result.charges.size() <= charges.size() + kAddedFactsMax) continue;
    return fail(ErrorCode::kLimit,
                fmt::format("nodes start and stop so often that their bill would have over {} "
                            "charges more; keep them on for longer",
                            kAddedFactsMax));
  }
  return result;
}

}  // namespace pennyweight::what_if
