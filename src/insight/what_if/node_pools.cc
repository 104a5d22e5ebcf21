#include "insight/what_if/node_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/check.h"
#include "core/int128.h"
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

  // What nodes cost while they are on and the bill does not charge them: their average by the hour.
  Result<void> add_average(std::span<const Charge> charges, PoweredCharges& result,
                           const StopCheck& is_stopped) const {
    struct Known {
      std::vector<Interval> charged;  // for its use; a fee or a tax covers no time
      std::vector<Interval> by_time;
      std::map<Currency, Costs> costs;             // of what goes by time
      std::map<Currency, const Charge*> examples;  // the first of these
    };
    std::map<std::uint32_t, Known> known;
    for (std::size_t i = 0; i < charges.size(); ++i) {
      if (i % 4096 == 0) TRY(go_on(is_stopped));
      const Charge& charge = charges[i];
      const auto part = charge.charge_period.overlap(period_);
      if (!part || charge.charge_category != ChargeCategory::kUsage) continue;
      for (const std::uint32_t node : fleet_.nodes_of(charge)) {
        if (!on_.contains(node)) continue;
        Known& one = known[node];
        one.charged.push_back(*part);
        if (!goes_by_time(charge)) continue;
        one.by_time.push_back(*part);
        const auto [sum, is_new] =
            one.costs.try_emplace(charge.costs.effective.currency(), charge.costs);
        one.examples.try_emplace(sum->first, &charge);
        if (is_new) continue;
        for (Money Costs::* cost : kCosts) sum->second.*cost += charge.costs.*cost;
      }
    }
    for (const auto& [node, spans] : on_) {
      Known& one = known[node];
      const std::vector<Interval> missing = without(spans, united(std::move(one.charged)));
      if (missing.empty()) continue;
      if (one.by_time.empty()) {
        return fail(ErrorCode::kUnsupported,
                    fmt::format("node {} is charged nothing by time in this period, so what it "
                                "would cost while it is on is not known; autoscale nodes that the "
                                "bill charges, chosen by pool or by model",
                                fleet_.any_fact(node).name.text()));
      }
      ++result.at_average;
      std::uint64_t charged_ms = 0;
      for (const Interval& part : united(std::move(one.by_time))) charged_ms += part.length_ms();
      std::uint64_t number = 0;
      for (const Interval& part : missing) {
        ++number;
        for (const auto& [currency, costs] : one.costs) {
          Charge charge = *one.examples.at(currency);
          charge.charge_period = part;
          charge.id = numbered(charge.id.hash, (kAverageStep + number) * kPieceStep);
          for (Money Costs::* cost : kCosts) {
            charge.costs.*cost = part_of(costs.*cost, part.length_ms(), charged_ms);
          }
          result.charges.push_back(std::move(charge));
        }
      }
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
    for (Money Costs::* cost : kCosts) {
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

  // The intervals as ones that don't touch, in order.
  static std::vector<Interval> united(std::vector<Interval> parts) {
    std::ranges::sort(parts);
    std::vector<Interval> all;
    for (const Interval& part : parts) {
      if (all.empty() || part.begin() > all.back().end()) {
        all.push_back(part);
      } else if (part.end() > all.back().end()) {
        all.back() = Interval(all.back().begin(), part.end());
      }
    }
    return all;
  }

  // What of the spans lies in none of the parts; both in order.
  static std::vector<Interval> without(std::span<const Interval> spans,
                                       const std::vector<Interval>& parts) {
    std::vector<Interval> rest;
    for (const Interval& span : spans) {
      Instant from = span.begin();
      for (const Interval& part : parts) {
        if (part.end() <= from || part.begin() >= span.end()) continue;
        if (const auto before = Interval::of(from, part.begin())) rest.push_back(*before);
        from = part.end();
      }
      if (const auto after = Interval::of(from, span.end())) rest.push_back(*after);
    }
    return rest;
  }

  // The cost of so much of a time, rounded towards nothing.
  static Money part_of(const Money& cost, std::uint64_t part_ms, std::uint64_t all_ms) {
    const bool is_negative = cost.is_negative();
    const auto size = static_cast<UInt128>(is_negative ? -cost.ticks() : cost.ticks());
    const auto part = static_cast<Int128>(multiply_divide(size, part_ms, all_ms).quotient);
    return Money::from_ticks(is_negative ? -part : part, cost.currency());
  }

  static constexpr Money Costs::* kCosts[] = {&Costs::billed, &Costs::effective, &Costs::list,
                                              &Costs::contracted};
  // Far from the numbers of copies of a charge, and of its pieces.
  static constexpr std::uint64_t kPieceStep = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kAverageStep = std::uint64_t{1} << 31;
  const Interval period_;
  const FleetView& fleet_;
  std::map<std::uint32_t, std::vector<Interval>> on_;  // by node
};

}  // namespace

Result<std::vector<replay::NodePool>> node_pools(const ReplayWorld& world, const FleetView& fleet,
                                                 const Scenario& scenario, bool is_tried) {
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
    const auto size = static_cast<std::uint32_t>(pool.machines.size());
    if (is_tried) pool.least = std::min(pool.least, size);
    if (!is_tried && size <= pool.least) {
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
  PoweredCharges result;
  result.charges.reserve(charges.size());
  TRY(charger.add_average(charges, result, is_stopped));
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
