// occupancy_of(): the three levels, one after the other, on each axis.
#include "allocate/occupancy.h"

#include <algorithm>
#include <set>

#include "allocate/fill.h"
#include "allocate/share_out.h"

namespace pennyweight {
namespace {

using Units = std::array<std::uint64_t, kAxes>;

// A constant quantity while something is there, zero before and after.
Steps while_present(const Interval& stretch, const Interval& present, std::uint64_t units) {
  Steps steps;
  if (present.begin() > stretch.begin()) steps.push_back({stretch.begin(), 0});
  steps.push_back({present.begin(), units});
  if (present.end() < stretch.end()) steps.push_back({present.end(), 0});
  return steps;
}

GpuTime gpu_time_of(const Demand& demand, const Interval& during) {
  return CardShare::from_units(demand.units[kCompute]).over_ms(during.length_ms());
}

MemoryTime memory_time_of(const Demand& demand, const Interval& during) {
  const UInt128 bytes =
      multiply_divide(demand.units[kMemory], demand.gpu_memory_bytes, CardShare::kUnitsPerCard)
          .quotient;
  return MemoryTime::of(bytes * during.length_ms());
}

// One stretch of one cluster.
class Sweep {
 public:
  Sweep(const Interval& stretch, const Fleet& fleet, std::span<const Selector> selectors,
        std::span<const Demand* const> active)
      : fleet_(fleet),
        selectors_(selectors),
        out_{.stretch = stretch,
             .machines = {},
             .leaves = {},
             .pool_gpu_time = {},
             .pool_memory_time = {}} {
    out_.machines.resize(fleet.machines().size());
    out_.leaves.resize(fleet.leaves().size());
    for (const Demand* demand : active) {
      const auto during = demand->during.overlap(stretch);
      if (!during) continue;
      const Cut cut{demand, *during};
      switch (demand->level) {
        case Demand::Level::kCard:
          if (by_card_[demand->target].empty()) name_card(demand->target);
          by_card_[demand->target].push_back(cut);
          break;
        case Demand::Level::kMachine:
          by_machine_[demand->target].push_back(cut);
          break;
        case Demand::Level::kPool:
          by_selector_[demand->target].push_back(cut);
          break;
      }
    }
  }

  Occupancy run() {
    for (std::size_t axis = 0; axis < kAxes; ++axis) sweep_axis(axis);
    // Empty parts of one axis are filled by the others; a part with nothing on any axis is a holder
    // without a claim on devices or host, and stays with zero weight.
    return std::move(out_);
  }

 private:
  struct Cut {
    const Demand* demand;
    Interval during;
  };
  using Cuts = std::vector<Cut>;

  void name_card(std::uint32_t card) {
    for (const std::uint32_t machine : fleet_.machines_named(fleet_.cards()[card].gpu->node)) {
      cards_of_machine_[machine].insert(card);
    }
  }

  static std::vector<Claim> claims_of(const Cuts& cuts, std::size_t axis) {
    std::vector<Claim> claims;
    claims.reserve(cuts.size());
    for (const Cut& cut : cuts) claims.push_back({cut.during, cut.demand->units[axis]});
    return claims;
  }

  std::uint64_t capacity_of(const Fleet::Machine& machine, std::size_t axis) const {
    switch (static_cast<Axis>(axis)) {
      case kCompute:
      case kMemory:
        return CardShare::kUnitsPerCard * machine.shape.gpu_count;
      case kCpu:
        return machine.shape.cpu_milli.value_or(0);
      case kHostMemory:
        return machine.shape.memory_bytes.value_or(0);
    }
    return 0;
  }

  // On the first axis a part is made, on the others it is filled; the order is the same.
  HeldPart& part_at(std::uint32_t machine, std::size_t position, const Cut& cut,
                    std::uint32_t card) {
    auto& parts = out_.machines[machine].parts;
    if (position == parts.size()) {
      parts.push_back({.holding = cut.demand->holding,
                       .card = card,
                       .during = cut.during,
                       .gpu_time = gpu_time_of(*cut.demand, cut.during),
                       .memory_time = memory_time_of(*cut.demand, cut.during)});
    }
    return parts[position];
  }

  void sweep_axis(std::size_t axis) {
    const Interval& stretch = out_.stretch;
    std::vector<Steps> left(fleet_.machines().size());
    for (std::uint32_t m = 0; m < fleet_.machines().size(); ++m) {
      const Fleet::Machine& machine = fleet_.machines()[m];
      const auto present = machine.present ? machine.present->overlap(stretch) : std::nullopt;
      if (!present) continue;
      left[m] = while_present(stretch, *present, capacity_of(machine, axis));
      out_.machines[m].capacity[axis] = integral(stretch, left[m]);
      std::size_t position = 0;
      take_by_card(m, *present, axis, left[m], position);
      take_by_machine(m, axis, left[m], position);
      out_.machines[m].residual[axis] = integral(stretch, left[m]);
    }
    share_pools(axis, left);
  }

  // Holdings that name cards of this machine: each card is shared out on its own.
  void take_by_card(std::uint32_t m, const Interval& present, std::size_t axis, Steps& left,
                    std::size_t& position) {
    const Fleet::Machine& machine = fleet_.machines()[m];
    if (by_card_.empty() || machine.shape.gpu_count == 0) return;
    std::vector<Steps> unused;
    std::uint64_t named_cards = 0;
    const auto cards = cards_of_machine_.find(m);
    if (cards == cards_of_machine_.end()) return;
    for (const std::uint32_t card : cards->second) {
      const auto cuts = by_card_.find(card);
      Cuts here;
      for (const Cut& cut : cuts->second) {
        if (const auto during = cut.during.overlap(present)) here.push_back({cut.demand, *during});
      }
      if (here.empty()) continue;
      if (axis >= kCpu) {  // a card has no CPU of its own: the host's is taken as by machine
        take(m, axis, here, card, left, position);
        continue;
      }
      const auto shared =
          share_out(out_.stretch, while_present(out_.stretch, present, CardShare::kUnitsPerCard),
                    claims_of(here, axis));
      for (std::size_t i = 0; i < here.size(); ++i) {
        part_at(m, position++, here[i], card).given[axis] += shared.given[i];
      }
      unused.push_back(shared.residual);
      ++named_cards;
    }
    if (axis >= kCpu || named_cards == 0) return;
    const std::uint64_t others =
        machine.shape.gpu_count > named_cards ? machine.shape.gpu_count - named_cards : 0;
    unused.push_back(while_present(out_.stretch, present, CardShare::kUnitsPerCard * others));
    std::vector<const Steps*> parts;
    for (const Steps& steps : unused) parts.push_back(&steps);
    left = sum_of(parts);
  }

  void take_by_machine(std::uint32_t m, std::size_t axis, Steps& left, std::size_t& position) {
    const auto cuts = by_machine_.find(m);
    if (cuts == by_machine_.end()) return;
    take(m, axis, cuts->second, kNone, left, position);
  }

  void take(std::uint32_t m, std::size_t axis, const Cuts& cuts, std::uint32_t card, Steps& left,
            std::size_t& position) {
    const auto shared = share_out(out_.stretch, left, claims_of(cuts, axis));
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      part_at(m, position++, cuts[i], card).given[axis] += shared.given[i];
    }
    left = shared.residual;
  }

  void share_pools(std::size_t axis, const std::vector<Steps>& left) {
    const Interval& stretch = out_.stretch;
    std::vector<Steps> free(fleet_.leaves().size());
    for (std::size_t l = 0; l < free.size(); ++l) {
      std::vector<const Steps*> machines;
      for (const std::uint32_t m : fleet_.leaves()[l].nodes) {
        if (!left[m].empty()) machines.push_back(&left[m]);
        out_.leaves[l].capacity[axis] += out_.machines[m].capacity[axis];
      }
      free[l] = machines.empty() ? Steps{{stretch.begin(), 0}} : sum_of(machines);
      out_.leaves[l].residual[axis] = integral(stretch, free[l]);
    }
    for (const auto& [selector, cuts] : by_selector_) {
      share_selector(axis, selectors_[selector], cuts, free);
    }
  }

  // One selector takes from its leaves, from each in proportion to what it has free at the instant.
  void share_selector(std::size_t axis, const Selector& leaves, const Cuts& cuts,
                      std::vector<Steps>& free) {
    const Interval& stretch = out_.stretch;
    std::vector<const Steps*> together;
    for (const std::uint32_t leaf : leaves) together.push_back(&free[leaf]);
    const Steps capacity = sum_of(together);
    const auto shared = share_out(stretch, capacity, claims_of(cuts, axis));
    if (axis == kCompute) {
      for (const Cut& cut : cuts) {
        out_.pool_gpu_time[cut.demand->holding] += gpu_time_of(*cut.demand, cut.during);
        out_.pool_memory_time[cut.demand->holding] += memory_time_of(*cut.demand, cut.during);
      }
    }
    if (leaves.size() == 1) {
      free[leaves[0]] = shared.residual;
      give(leaves[0], axis, cuts, shared.given);
      return;
    }
    const auto taken = take_from_leaves(leaves, capacity, shared.residual, free);
    UInt128 taken_in_all = 0;
    for (const UInt128 amount : taken) taken_in_all += amount;
    for (std::size_t l = 0; l < leaves.size(); ++l) {
      if (taken_in_all == 0) break;
      give(leaves[l], axis, cuts, scaled(shared.given, taken[l], taken_in_all));
    }
  }

  // How much was taken from each leaf over the stretch; `free` becomes what is left there.
  std::vector<UInt128> take_from_leaves(const Selector& leaves, const Steps& capacity,
                                        const Steps& residual, std::vector<Steps>& free) const {
    std::vector<Instant> instants;
    for (const Step& step : capacity) instants.push_back(step.at);
    for (const Step& step : residual) instants.push_back(step.at);
    for (const std::uint32_t leaf : leaves) {
      for (const Step& step : free[leaf]) instants.push_back(step.at);
    }
    std::sort(instants.begin(), instants.end());
    instants.erase(std::unique(instants.begin(), instants.end()), instants.end());

    std::vector<UInt128> taken(leaves.size());
    std::vector<Steps> rest(leaves.size());
    std::vector<Weight> levels(leaves.size());
    for (std::size_t i = 0; i < instants.size(); ++i) {
      const Instant at = instants[i];
      const Instant until = i + 1 < instants.size() ? instants[i + 1] : out_.stretch.end();
      const std::uint64_t used = level_at(capacity, at) - level_at(residual, at);
      for (std::size_t l = 0; l < leaves.size(); ++l) levels[l] = level_at(free[leaves[l]], at);
      const auto parts =
          used == 0 ? std::vector<UInt128>(leaves.size(), 0) : split_units(used, levels);
      for (std::size_t l = 0; l < leaves.size(); ++l) {
        taken[l] += parts[l] * static_cast<std::uint64_t>((until - at).count());
        rest[l].push_back({at, static_cast<std::uint64_t>(levels[l] - parts[l])});
      }
    }
    for (std::size_t l = 0; l < leaves.size(); ++l) free[leaves[l]] = std::move(rest[l]);
    return taken;
  }

  static std::uint64_t level_at(const Steps& steps, Instant at) {
    const auto after = std::upper_bound(steps.begin(), steps.end(), at,
                                        [](Instant t, const Step& step) { return t < step.at; });
    return std::prev(after)->units;
  }

  void give(std::uint32_t leaf, std::size_t axis, const Cuts& cuts,
            const std::vector<UInt128>& amounts) {
    auto& parts = out_.leaves[leaf].parts;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      if (amounts[i] == 0) continue;
      const std::uint32_t holding = cuts[i].demand->holding;
      auto at =
          std::lower_bound(parts.begin(), parts.end(), holding,
                           [](const PoolPart& part, std::uint32_t h) { return part.holding < h; });
      if (at == parts.end() || at->holding != holding) {
        at = parts.insert(at, {.holding = holding, .during = cuts[i].during});
      }
      at->given[axis] += amounts[i];
    }
  }

  const Fleet& fleet_;
  std::span<const Selector> selectors_;
  Occupancy out_;
  std::map<std::uint32_t, Cuts> by_card_;
  std::map<std::uint32_t, std::set<std::uint32_t>> cards_of_machine_;
  std::map<std::uint32_t, Cuts> by_machine_;
  std::map<std::uint32_t, Cuts> by_selector_;
};

}  // namespace

Occupancy occupancy_of(const Interval& stretch, const Fleet& fleet,
                       std::span<const Selector> selectors, std::span<const Demand* const> active) {
  return Sweep(stretch, fleet, selectors, active).run();
}

}  // namespace pennyweight
