#include "allocation/pool_sharing.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "core/check.h"

namespace pennyweight {
namespace {

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.begin(), b.begin()), std::max(a.end(), b.end())};
}

std::uint64_t requested_memory_bytes(const PlacedDemand& each) {
  return static_cast<std::uint64_t>(
      multiply_divide(each.units[kMemory], each.demand->gpu_memory_bytes, CardShare::kUnitsPerCard)
          .quotient);
}

Steps sum_of(const std::vector<Steps>& all) {
  std::vector<const Steps*> parts;
  for (const Steps& steps : all) parts.push_back(&steps);
  return sum_steps(parts);
}

class PoolSharing {
 public:
  PoolSharing(Occupancy& occupancy, std::span<const PlacedDemand> placed,
              const AllocationContext& context)
      : out_(occupancy), fleet_(context.fleet), selectors_(context.selectors) {
    for (const PlacedDemand& each : placed) by_selector_[each.target].push_back(&each);
  }

  void run() {
    out_.has_pool_holders = true;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      std::vector<Steps> free(fleet_.node_groups().size());
      for (std::size_t l = 0; l < free.size(); ++l) free[l] = left_to_pool(l, axis);
      const std::vector<Steps> left = free;
      for (const auto& [selector, placed] : by_selector_) {
        if (axis == kCompute) add_requests(selector, placed, left, free);
        share_selector(axis, selector, placed, free);
      }
      for (std::size_t l = 0; l < free.size(); ++l) {
        out_.node_groups[l].taken[axis] =
            sum_steps(std::array{&left[l]}, std::array{&std::as_const(free[l])});
      }
    }
  }

 private:
  using PlacedDemands = std::vector<const PlacedDemand*>;

  Steps left_to_pool(std::size_t node_group, std::size_t axis) const {
    std::vector<const Steps*> machines;
    for (const std::uint32_t m : fleet_.node_groups()[node_group].nodes) {
      if (!out_.machines[m].left[axis].empty()) machines.push_back(&out_.machines[m].left[axis]);
    }
    return machines.empty() ? Steps{{out_.segment.begin(), 0}} : sum_steps(machines);
  }

  // The GPU time of a holder is told as it requested it, on the machines that were free; where none
  // was, on all that were there.
  void add_requests(std::uint32_t selector, const PlacedDemands& placed,
                    const std::vector<Steps>& left, const std::vector<Steps>& free) {
    const Selector& node_groups = selectors_[selector];
    for (const PlacedDemand* each : placed) {
      for (const std::uint32_t l : node_groups) {
        holder(l, *each).requested.push_back({.selector = selector,
                                              .during = each->during,
                                              .compute = each->units[kCompute],
                                              .memory_bytes = requested_memory_bytes(*each)});
      }
    }
    if (node_groups.size() == 1) return;
    std::vector<Steps>& levels = out_.selectors[selector].for_time;
    for (const std::uint32_t l : node_groups) levels.push_back(free[l]);
    fill_zeros(levels, [&](std::size_t i) { return left[node_groups[i]]; });
    fill_zeros(levels, [&](std::size_t i) {
      std::vector<Steps> machines = {{{out_.segment.begin(), 0}}};
      for (const std::uint32_t m : fleet_.node_groups()[node_groups[i]].nodes) {
        machines.push_back(compute_present(out_, fleet_.machines()[m]));
      }
      return sum_of(machines);
    });
  }

  // Where all levels together are zero, takes those of `other` instead.
  template <class Other>
  void fill_zeros(std::vector<Steps>& levels, Other other) const {
    const std::vector<Interval> zero = zero_times(out_.segment, sum_of(levels));
    if (zero.empty()) return;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const Steps instead = restrict_to(out_.segment, other(i), zero);
      levels[i] = sum_steps(std::array{&std::as_const(levels[i]), &instead});
    }
  }

  void share_selector(std::size_t axis, std::uint32_t selector, const PlacedDemands& placed,
                      std::vector<Steps>& free) {
    const Selector& node_groups = selectors_[selector];
    std::vector<const Steps*> all;
    for (const std::uint32_t node_group : node_groups) all.push_back(&free[node_group]);
    const Steps capacity = sum_steps(all);
    std::vector<CapacityRequest> claims;
    for (const PlacedDemand* each : placed) claims.push_back({each->during, each->units[axis]});
    const CapacityDivision shared = divide_capacity(out_.segment, capacity, claims);
    const auto stretches = stretches_of(selector, claims, shared);
    if (node_groups.size() == 1) {
      free[node_groups[0]] = shared.residual;
      give(node_groups[0], axis, placed, shared.given, stretches);
      return;
    }
    auto& levels = out_.selectors[selector].free[axis];
    for (const std::uint32_t node_group : node_groups) levels.push_back(free[node_group]);
    const GroupAmounts amounts = over_groups(levels, capacity, stretches);
    take_from_groups(node_groups, capacity, shared.residual, free);
    for (std::size_t l = 0; l < node_groups.size(); ++l) {
      give(node_groups[l], axis, placed, amounts[l], stretches);
    }
  }

  // By claim: what it was given, cut where that changes.
  static std::vector<std::vector<PoolShareInterval>> stretches_of(
      std::uint32_t selector, std::span<const CapacityRequest> claims,
      const CapacityDivision& shared) {
    std::vector<std::vector<PoolShareInterval>> out(claims.size());
    std::vector<Instant> done;
    for (const CapacityRequest& claim : claims) done.push_back(claim.during.begin());
    const auto as_requested = [&](std::size_t claim, Instant until) {
      const auto during = Interval::of(done[claim], until);
      if (!during || claims[claim].units == 0) return;
      out[claim].push_back({selector, *during, UInt128{claims[claim].units} * during->length_ms()});
    };
    for (const ScaledRequest& scaled : shared.scaled) {
      as_requested(scaled.request, scaled.during.begin());
      if (scaled.amount > 0) {
        out[scaled.request].push_back({selector, scaled.during, scaled.amount});
      }
      done[scaled.request] = scaled.during.end();
    }
    for (std::size_t i = 0; i < claims.size(); ++i) as_requested(i, claims[i].during.end());
    return out;
  }

  using GroupAmounts = std::vector<std::vector<UInt128>>;  // by node group, then claim

  // What each claim was given in each node group: at every instant in proportion to what is free.
  GroupAmounts over_groups(const std::vector<Steps>& levels, const Steps& capacity,
                           const std::vector<std::vector<PoolShareInterval>>& stretches) const {
    std::vector<Instant> instants = {out_.segment.end()};
    for (const Steps& steps : levels) {
      for (const Step& step : steps) instants.push_back(step.at);
    }
    std::sort(instants.begin(), instants.end());
    instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
    // Cumulated fractions of the capacity, so that a claim costs no more the longer it lasts.
    std::vector<UInt128> whole = {0};
    std::vector<std::vector<UInt128>> upto(levels.size(), {UInt128{0}});
    std::vector<StepCursor> cursors;
    for (const Steps& steps : levels) cursors.emplace_back(steps);
    StepCursor all(capacity);
    for (std::size_t i = 0; i + 1 < instants.size(); ++i) {
      const auto length_ms = static_cast<std::uint64_t>((instants[i + 1] - instants[i]).count());
      const std::uint64_t total = all.level_at(instants[i]);
      for (std::size_t l = 0; l < levels.size(); ++l) {
        const std::uint64_t level = cursors[l].level_at(instants[i]);
        upto[l].push_back(upto[l].back() +
                          (total == 0 ? 0 : (UInt128{level} << kFractionBits) / total * length_ms));
      }
    }
    const auto integral_to = [&](std::size_t l, Instant at) -> UInt128 {
      const auto after = std::upper_bound(instants.begin(), instants.end(), at);
      const auto i = static_cast<std::size_t>(after - instants.begin()) - 1;
      if (i + 1 >= instants.size()) return upto[l].back();
      const auto length = static_cast<std::uint64_t>((instants[i + 1] - instants[i]).count());
      const auto part = static_cast<std::uint64_t>((at - instants[i]).count());
      return upto[l][i] + (upto[l][i + 1] - upto[l][i]) / length * part;
    };
    GroupAmounts amounts(levels.size(), std::vector<UInt128>(stretches.size()));
    for (std::size_t l = 0; l < levels.size(); ++l) {
      for (std::size_t claim = 0; claim < stretches.size(); ++claim) {
        for (const PoolShareInterval& stretch : stretches[claim]) {
          const UInt128 fraction =
              integral_to(l, stretch.during.end()) - integral_to(l, stretch.during.begin());
          amounts[l][claim] += multiply_divide(fraction, stretch.amount,
                                               UInt128{stretch.during.length_ms()} << kFractionBits)
                                   .quotient;
        }
      }
    }
    return amounts;
  }

  // Takes from each node group what was given there; `free` becomes what is left.
  static void take_from_groups(const Selector& node_groups, const Steps& capacity,
                               const Steps& residual, std::vector<Steps>& free) {
    std::vector<Instant> instants;
    for (const Step& step : capacity) instants.push_back(step.at);
    for (const Step& step : residual) instants.push_back(step.at);
    for (const std::uint32_t node_group : node_groups) {
      for (const Step& step : free[node_group]) instants.push_back(step.at);
    }
    std::sort(instants.begin(), instants.end());
    instants.erase(std::unique(instants.begin(), instants.end()), instants.end());

    std::vector<Steps> rest(node_groups.size());
    std::vector<Weight> levels(node_groups.size());
    StepCursor at_all(capacity), at_residual(residual);
    std::vector<StepCursor> at_free;
    for (const std::uint32_t node_group : node_groups) at_free.emplace_back(free[node_group]);
    for (std::size_t i = 0; i < instants.size(); ++i) {
      const Instant at = instants[i];
      const std::uint64_t used = at_all.level_at(at) - at_residual.level_at(at);
      for (std::size_t l = 0; l < node_groups.size(); ++l) levels[l] = at_free[l].level_at(at);
      const auto parts =
          used == 0 ? std::vector<UInt128>(node_groups.size(), 0) : split_units(used, levels);
      for (std::size_t l = 0; l < node_groups.size(); ++l) {
        append_step(rest[l], at, static_cast<std::uint64_t>(levels[l] - parts[l]));
      }
    }
    for (std::size_t l = 0; l < node_groups.size(); ++l) free[node_groups[l]] = std::move(rest[l]);
  }

  PoolHolder& holder(std::uint32_t node_group, const PlacedDemand& each) {
    auto& holders = out_.node_groups[node_group].holders;
    const std::uint32_t holding = each.demand->holding;
    // Demands come by holding, so a new one is mostly the last.
    auto at = holders.empty() || holders.back().holding < holding
                  ? holders.end()
                  : std::lower_bound(
                        holders.begin(), holders.end(), holding,
                        [](const PoolHolder& part, std::uint32_t h) { return part.holding < h; });
    if (at == holders.end() || at->holding != holding) {
      at = holders.insert(at, {.holding = holding,
                               .during = each.during,
                               .given = {},
                               .stretches = {},
                               .requested = {}});
    }
    at->during = hull(at->during, each.during);
    return *at;
  }

  void give(std::uint32_t node_group, std::size_t axis, const PlacedDemands& placed,
            const std::vector<UInt128>& amounts,
            const std::vector<std::vector<PoolShareInterval>>& stretches) {
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (amounts[i] == 0) continue;
      PoolHolder& to = holder(node_group, *placed[i]);
      to.given[axis] += amounts[i];
      to.stretches[axis].insert(to.stretches[axis].end(), stretches[i].begin(), stretches[i].end());
    }
  }

  static constexpr unsigned kFractionBits = 60;

  Occupancy& out_;
  const Fleet& fleet_;
  std::span<const Selector> selectors_;
  std::map<std::uint32_t, PlacedDemands> by_selector_;
};

}  // namespace

Steps compute_present(const Occupancy& occupancy, const Fleet::Machine& machine) {
  const auto present = machine.present ? machine.present->overlap(occupancy.segment) : std::nullopt;
  if (!present) return {{occupancy.segment.begin(), 0}};
  return while_present(occupancy.segment, *present, machine.capacity()[kCompute]);
}

void share_pools(Occupancy& occupancy, std::span<const PlacedDemand> pool_demands,
                 const AllocationContext& context) {
  for (std::size_t l = 0; l < occupancy.node_groups.size(); ++l) {
    NodeGroupOccupancy& node_group = occupancy.node_groups[l];
    for (const std::uint32_t m : context.fleet.node_groups()[l].nodes) {
      for (std::size_t axis = 0; axis < kAxes; ++axis) {
        node_group.capacity[axis] += occupancy.machines[m].capacity[axis];
        node_group.residual[axis] += occupancy.machines[m].residual[axis];
      }
    }
  }
  if (!pool_demands.empty()) PoolSharing(occupancy, pool_demands, context).run();
}

}  // namespace pennyweight
