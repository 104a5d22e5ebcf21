#include "allocate/occupancy.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "allocate/fill.h"
#include "allocate/seat.h"
#include "core/check.h"

namespace pennyweight {
namespace {

GpuTime gpu_time_of(const Cut& cut) {
  return CardShare::from_units(cut.units[kCompute]).over_ms(cut.during.length_ms());
}

MemoryTime memory_time_of(const Cut& cut) {
  const UInt128 bytes =
      multiply_divide(cut.units[kMemory], cut.demand->gpu_memory_bytes, CardShare::kUnitsPerCard)
          .quotient;
  return MemoryTime::of(bytes * cut.during.length_ms());
}

// The seats of the machine on which telemetry says that the demand's workload is: one for each of
// its devices, or none.
std::vector<std::uint32_t> seats_seen(const Demand& demand, const WorkloadId& workload,
                                      const Interval& during, const Fleet& fleet,
                                      const SeenIndex& seen) {
  std::vector<std::uint32_t> seats;
  for (const auto& [who, device] : seen.placed(workload)) {
    for (const std::uint32_t c : fleet.cards_named(device)) {
      const Fleet::Card& card = fleet.cards()[c];
      if (card.gpu->node != fleet.machines()[demand.machine].node->name) continue;
      if (!card.present || card.present->overlap(during) != during) continue;
      for (std::uint32_t s = card.first_seat; s < card.first_seat + card.seats; ++s) {
        if (fleet.seats()[s].id == device && !fleet.seats()[s].is_rest) seats.push_back(s);
      }
    }
  }
  if (seats.size() != demand.devices) seats.clear();
  return seats;
}

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.begin(), b.begin()), std::max(a.end(), b.end())};
}

class MachineSweep {
 public:
  MachineSweep(const Interval& stretch, std::uint32_t machine, std::span<const Cut> cuts,
               const Surroundings& around, const SeenIndex& seen, bool pool_takes)
      : stretch_(stretch),
        index_(machine),
        machine_(around.fleet.machines()[machine]),
        cuts_(cuts),
        around_(around),
        fleet_(around.fleet),
        seen_(seen),
        pool_takes_(pool_takes) {}

  MachineOccupancy run() {
    const auto present = machine_.present ? machine_.present->overlap(stretch_) : std::nullopt;
    if (!present) return std::move(out_);
    present_ = *present;
    const AxisUnits units = machine_.capacity();
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      out_.capacity[axis] = UInt128{units[axis]} * present_.length_ms();
    }
    for (const Cut& cut : cuts_) {
      out_.parts.push_back({.holding = cut.demand->holding,
                            .during = cut.during,
                            .gpu_time = gpu_time_of(cut),
                            .idle_time = {},
                            .observed_time = {},
                            .memory_time = memory_time_of(cut)});
    }
    outages_ = union_of(present_, machine_.outages);
    share_host(units);
    share_gpus(units);
    return std::move(out_);
  }

 private:
  // CPU and memory of the host: everybody on the machine at once, wherever their GPUs are.
  void share_host(const AxisUnits& units) {
    for (std::size_t axis = kGpuAxes; axis < kAxes; ++axis) {
      Steps left = while_present(stretch_, present_, units[axis]);
      if (units[axis] > 0) take(axis, cuts_, 0, left);
      if (units[axis] > 0 && !cuts_.empty()) {
        const auto none = zero_times(stretch_, left);
        exhausted_.insert(exhausted_.end(), none.begin(), none.end());
      }
      make_unavailable(axis, left);
      finish(axis, left);
    }
    exhausted_ = union_of(present_, exhausted_);
  }

  void take(std::size_t axis, std::span<const Cut> cuts, std::size_t first, Steps& left) {
    if (cuts.empty()) return;
    std::vector<Claim> claims;
    claims.reserve(cuts.size());
    for (const Cut& cut : cuts) claims.push_back({cut.during, cut.units[axis]});
    auto shared = share_out(stretch_, left, claims);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      HeldPart& part = out_.parts[first + i];
      part.given[axis] += shared.given[i];
      if (axis < kGpuAxes) part.used[axis] += shared.given[i];
    }
    left = std::move(shared.residual);
  }

  void make_unavailable(std::size_t axis, Steps& left) {
    if (outages_.empty()) return;
    const Steps out = within(stretch_, left, outages_);
    out_.unavailable[axis] += integral(stretch_, out);
    left = sum_of(std::array{&std::as_const(left)}, std::array{&out});
  }

  void finish(std::size_t axis, Steps& left) {
    out_.residual[axis] = integral(stretch_, left);
    if (pool_takes_) out_.left[axis] = std::move(left);
  }

  void share_gpus(const AxisUnits& units) {
    if (units[kCompute] == 0) {
      if (pool_takes_) {
        out_.left[kCompute] = out_.left[kMemory] = {{stretch_.begin(), 0}};
      }
      return;
    }
    std::size_t seated = 0;
    while (seated < cuts_.size() && cuts_[seated].level == Demand::Level::kSeat) ++seated;
    const auto on_machine = cuts_.subspan(seated);
    // Steps cost much more than sums, so they are made only for somebody who needs them.
    with_steps_ = pool_takes_ || !on_machine.empty() || !outages_.empty() || !exhausted_.empty();
    std::array<UInt128, kGpuAxes> rest = {out_.capacity[kCompute], out_.capacity[kMemory]};
    std::array<std::vector<Steps>, kGpuAxes> more, less;
    std::size_t first = 0;
    for (const std::uint32_t c : machine_.cards) {
      std::size_t last = first;
      while (last < seated && fleet_.seats()[cuts_[last].target].card == c) ++last;
      share_card(c, cuts_.subspan(first, last - first), first, rest, more, less);
      first = last;
    }
    CHECK(first == seated, "every seat is one of the machine's cards");
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      if (!with_steps_) {
        out_.residual[axis] = rest[axis];
        continue;
      }
      const Steps all = while_present(stretch_, present_, units[axis]);
      std::vector<const Steps*> plus = {&all}, minus;
      for (const Steps& steps : more[axis]) plus.push_back(&steps);
      for (const Steps& steps : less[axis]) minus.push_back(&steps);
      Steps left = sum_of(plus, minus);
      take(axis, on_machine, seated, left);
      make_unavailable(axis, left);
      if (!exhausted_.empty()) {
        const Steps stuck = within(stretch_, left, exhausted_);
        out_.stranded[axis] += integral(stretch_, stuck);
        left = sum_of(std::array{&std::as_const(left)}, std::array{&stuck});
      }
      finish(axis, left);
      out_.unbilled[axis] = std::min(out_.unbilled[axis], out_.residual[axis]);
    }
  }

  // A card of which something must be known by itself: who is on it, how it is cut, an outage. From
  // what the machine has, the card as a whole is taken off and what its seats leave is put back.
  void share_card(std::uint32_t index, std::span<const Cut> cuts, std::size_t first,
                  std::array<UInt128, kGpuAxes>& rest,
                  std::array<std::vector<Steps>, kGpuAxes>& more,
                  std::array<std::vector<Steps>, kGpuAxes>& less) {
    const Fleet::Card& card = fleet_.cards()[index];
    const auto there = card.present ? card.present->overlap(present_) : std::nullopt;
    if (!there) {
      CHECK(cuts.empty(), "nobody is on a card that is not there");
      return;
    }
    const auto outages = union_of(*there, card.outages);
    if (cuts.empty() && !card.is_cut && outages.empty()) return;
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      rest[axis] -= UInt128{card.units[axis]} * there->length_ms();
      out_.stranded[axis] += UInt128{card.stranded[axis]} * there->length_ms();
      if (with_steps_) less[axis].push_back(while_present(stretch_, *there, card.units[axis]));
    }
    std::size_t position = 0;
    for (std::uint32_t s = card.first_seat; s < card.first_seat + card.seats; ++s) {
      std::size_t last = position;
      while (last < cuts.size() && cuts[last].target == s) ++last;
      SeatOccupancy seat = share_of_seat(s, *there, cuts.subspan(position, last - position),
                                         first + position, with_steps_ || !outages.empty());
      position = last;
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        UInt128 residual = seat.residual[axis];
        if (!outages.empty()) {
          const Steps out = within(*there, seat.left[axis], outages);
          const UInt128 unavailable = integral(*there, out);
          out_.unavailable[axis] += unavailable;
          residual -= unavailable;
          seat.left[axis] = sum_of(std::array{&std::as_const(seat.left[axis])}, std::array{&out});
        }
        rest[axis] += residual;
        out_.unbilled[axis] += std::min(UInt128{seat.unbilled[axis]}, residual);
        if (with_steps_) more[axis].push_back(over_stretch(*there, std::move(seat.left[axis])));
      }
    }
    CHECK(position == cuts.size(), "every cut is on one of the card's seats");
  }

  // Steps of a part of the stretch, as steps of all of it.
  Steps over_stretch(const Interval& there, Steps steps) const {
    if (stretch_.begin() < there.begin()) steps.insert(steps.begin(), {stretch_.begin(), 0});
    if (there.end() < stretch_.end()) steps.push_back({there.end(), 0});
    return steps;
  }

  SeatOccupancy share_of_seat(std::uint32_t index, const Interval& there, std::span<const Cut> cuts,
                              std::size_t first, bool with_steps) {
    const Fleet::Seat& seat = fleet_.seats()[index];
    std::vector<SeatClaim> claims;
    claims.reserve(cuts.size());
    for (const Cut& cut : cuts) {
      const auto during = cut.during.overlap(there);
      CHECK(during.has_value(), "a cut lies within the presence of its card");
      claims.push_back(
          {.during = *during,
           .asked = {cut.units[kCompute], cut.units[kMemory]},
           .basis = around_.rules.basis(index_, cut.demand->holding),
           .own = seen_.workload(index, around_.holdings[cut.demand->holding]->workload)});
    }
    SeatOccupancy shared = share_seat({.stretch = there,
                                       .capacity = seat.units,
                                       .claims = claims,
                                       .device = seen_.device(index),
                                       .seen_from = seen_.from(),
                                       .with_steps = with_steps});
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      HeldPart& part = out_.parts[first + i];
      const SeatShare& share = shared.shares[i];
      part.card = seat.card;
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        part.given[axis] += share.given[axis];
        part.used[axis] += share.used[axis];
      }
      part.idle_time = GpuTime::of(share.idle);
      part.observed_time = GpuTime::of(share.observed);
    }
    return shared;
  }

  const Interval& stretch_;
  std::uint32_t index_;
  const Fleet::Machine& machine_;
  std::span<const Cut> cuts_;
  const Surroundings& around_;
  const Fleet& fleet_;
  const SeenIndex& seen_;
  bool pool_takes_;
  bool with_steps_ = false;
  Interval present_{stretch_};
  std::vector<Interval> outages_;    // of the machine
  std::vector<Interval> exhausted_;  // when its CPU or memory was all held
  MachineOccupancy out_;
};

// Pools of one stretch: narrower selectors first.
class PoolSweep {
 public:
  PoolSweep(Occupancy& occupancy, std::span<const Cut> cuts, const Surroundings& around)
      : out_(occupancy), fleet_(around.fleet), selectors_(around.selectors) {
    for (const Cut& cut : cuts) by_selector_[cut.target].push_back(&cut);
  }

  void run() {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      std::vector<Steps> free(fleet_.leaves().size());
      for (std::size_t l = 0; l < free.size(); ++l) {
        std::vector<const Steps*> machines;
        for (const std::uint32_t m : fleet_.leaves()[l].nodes) {
          if (!out_.machines[m].left[axis].empty())
            machines.push_back(&out_.machines[m].left[axis]);
        }
        free[l] = machines.empty() ? Steps{{out_.stretch.begin(), 0}} : sum_of(machines);
      }
      for (const auto& [selector, cuts] : by_selector_) {
        share_selector(axis, selectors_[selector], cuts, free);
      }
    }
  }

 private:
  using Cuts = std::vector<const Cut*>;

  // One selector takes from its leaves, from each in proportion to what it has free at the instant.
  void share_selector(std::size_t axis, const Selector& leaves, const Cuts& cuts,
                      std::vector<Steps>& free) {
    std::vector<const Steps*> together;
    for (const std::uint32_t leaf : leaves) together.push_back(&free[leaf]);
    const Steps capacity = sum_of(together);
    std::vector<Claim> claims;
    for (const Cut* cut : cuts) claims.push_back({cut->during, cut->units[axis]});
    const auto shared = share_out(out_.stretch, capacity, claims);
    if (axis == kCompute) {
      for (const Cut* cut : cuts) {
        out_.pool_gpu_time[cut->demand->holding] += gpu_time_of(*cut);
        out_.pool_memory_time[cut->demand->holding] += memory_time_of(*cut);
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
      const std::uint32_t holding = cuts[i]->demand->holding;
      auto at =
          std::lower_bound(parts.begin(), parts.end(), holding,
                           [](const PoolPart& part, std::uint32_t h) { return part.holding < h; });
      if (at == parts.end() || at->holding != holding) {
        at = parts.insert(at, {.holding = holding, .during = cuts[i]->during});
      }
      at->during = hull(at->during, cuts[i]->during);
      at->given[axis] += amounts[i];
    }
  }

  Occupancy& out_;
  const Fleet& fleet_;
  std::span<const Selector> selectors_;
  std::map<std::uint32_t, Cuts> by_selector_;
};

}  // namespace

std::vector<Cut> cuts_of(const Interval& stretch, std::span<const Demand* const> active,
                         const Surroundings& around, const SeenIndex& seen) {
  const Fleet& fleet = around.fleet;
  std::vector<Cut> cuts;
  cuts.reserve(active.size());
  for (const Demand* demand : active) {
    const auto during = demand->during.overlap(stretch);
    if (!during) continue;
    Cut cut{.demand = demand,
            .level = demand->level,
            .machine = demand->machine,
            .target = demand->target,
            .during = *during,
            .units = demand->units};
    if (demand->level == Demand::Level::kMachine && demand->devices > 0) {
      const auto seats =
          seats_seen(*demand, around.holdings[demand->holding]->workload, *during, fleet, seen);
      for (std::uint32_t i = 0; i < seats.size(); ++i) {
        Cut one = cut;
        one.level = Demand::Level::kSeat;
        one.target = seats[i];
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
          const std::uint64_t devices = demand->devices;
          one.units[axis] =
              demand->units[axis] / devices + (i < demand->units[axis] % devices ? 1 : 0);
          if (axis < kGpuAxes) {
            one.units[axis] = std::min(one.units[axis], fleet.seats()[seats[i]].units[axis]);
          }
        }
        cuts.push_back(one);
      }
      if (!seats.empty()) continue;
    }
    cuts.push_back(cut);
  }
  // A card's seats stand together, so by seat is by card, and cards of a machine ascend.
  std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
    return std::tie(a.machine, a.level, a.target) < std::tie(b.machine, b.level, b.target);
  });
  return cuts;
}

MachineOccupancy machine_occupancy(const Interval& stretch, std::uint32_t machine,
                                   std::span<const Cut> cuts, const Surroundings& around,
                                   const SeenIndex& seen, bool pool_takes) {
  return MachineSweep(stretch, machine, cuts, around, seen, pool_takes).run();
}

void share_pools(Occupancy& occupancy, std::span<const Cut> pool_cuts, const Surroundings& around) {
  for (std::size_t l = 0; l < occupancy.leaves.size(); ++l) {
    LeafOccupancy& leaf = occupancy.leaves[l];
    for (const std::uint32_t m : around.fleet.leaves()[l].nodes) {
      for (std::size_t axis = 0; axis < kAxes; ++axis) {
        leaf.capacity[axis] += occupancy.machines[m].capacity[axis];
        leaf.residual[axis] += occupancy.machines[m].residual[axis];
      }
    }
  }
  if (!pool_cuts.empty()) PoolSweep(occupancy, pool_cuts, around).run();
}

}  // namespace pennyweight
