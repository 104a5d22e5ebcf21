#include "allocation/occupancy.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "allocation/seat.h"
#include "core/check.h"

namespace pennyweight {
namespace {

GpuTime gpu_time_of(const PlacedDemand& each) {
  return CardShare::from_units(each.units[kCompute]).over_ms(each.during.length_ms());
}

MemoryTime memory_time_of(const PlacedDemand& each) {
  const UInt128 bytes =
      multiply_divide(each.units[kMemory], each.demand->gpu_memory_bytes, CardShare::kUnitsPerCard)
          .quotient;
  return MemoryTime::of(bytes * each.during.length_ms());
}

// The seats of the machine on which telemetry reports the holding of the demand: one for each of
// its devices, or none.
std::vector<std::uint32_t> seats_by_telemetry(const Demand& demand, const Holding& holding,
                                              const Interval& during, const Fleet& fleet,
                                              const UtilizationIndex& seen) {
  std::vector<std::uint32_t> seats;
  for (const GpuId& device : seen.devices_of(holding.workload, holding.held)) {
    for (const std::uint32_t c : fleet.cards_named(device)) {
      const Fleet::InstalledGpu& card = fleet.cards()[c];
      if (card.gpu->node != fleet.machines()[demand.machine].node->name) continue;
      if (!card.present || card.present->overlap(during) != during) continue;
      for (std::uint32_t s = card.first_seat; s < card.first_seat + card.seats; ++s) {
        if (fleet.seats()[s].id == Fleet::seat_name(card, device) && !fleet.seats()[s].is_rest)
          seats.push_back(s);
      }
    }
  }
  if (seats.size() != demand.devices) seats.clear();
  return seats;
}

class MachineSharing {
 public:
  MachineSharing(const Interval& segment, std::uint32_t machine,
                 std::span<const PlacedDemand> placed, const AllocationContext& context,
                 const UtilizationIndex& seen, bool pool_takes)
      : segment_(segment),
        index_(machine),
        machine_(context.fleet.machines()[machine]),
        placed_(placed),
        context_(context),
        fleet_(context.fleet),
        seen_(seen),
        pool_takes_(pool_takes) {}

  MachineOccupancy run() {
    const auto present = machine_.present ? machine_.present->overlap(segment_) : std::nullopt;
    if (!present) return std::move(out_);
    present_ = *present;
    const AxisUnits units = machine_.capacity();
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      out_.capacity[axis] = UInt128{units[axis]} * present_.length_ms();
    }
    for (const PlacedDemand& each : placed_) {
      out_.holders.push_back({.holding = each.demand->holding,
                              .during = each.during,
                              .gpu_time = gpu_time_of(each),
                              .idle_time = {},
                              .observed_time = {},
                              .memory_time = memory_time_of(each)});
    }
    outages_ = union_of(present_, machine_.outages);
    share_host(units);
    share_gpus(units);
    return std::move(out_);
  }

 private:
  // Divides CPU and memory of the host among all holders on the machine, wherever their GPUs are.
  void share_host(const AxisUnits& units) {
    for (std::size_t axis = kGpuAxes; axis < kAxes; ++axis) {
      Steps left = while_present(segment_, present_, units[axis]);
      if (units[axis] > 0) take(axis, placed_, 0, left);
      if (units[axis] > 0 && !placed_.empty()) {
        const auto none = zero_times(segment_, left);
        exhausted_.insert(exhausted_.end(), none.begin(), none.end());
      }
      make_unavailable(axis, left);
      finish(axis, left);
    }
    exhausted_ = union_of(present_, exhausted_);
  }

  void take(std::size_t axis, std::span<const PlacedDemand> placed, std::size_t first,
            Steps& left) {
    if (placed.empty()) return;
    std::vector<CapacityRequest> claims;
    claims.reserve(placed.size());
    for (const PlacedDemand& each : placed) claims.push_back({each.during, each.units[axis]});
    auto shared = divide_capacity(segment_, left, claims);
    for (std::size_t i = 0; i < placed.size(); ++i) {
      MachineHolder& part = out_.holders[first + i];
      part.given[axis] += shared.given[i];
      if (axis < kGpuAxes) part.used[axis] += shared.given[i];
    }
    left = std::move(shared.residual);
  }

  void make_unavailable(std::size_t axis, Steps& left) {
    if (outages_.empty()) return;
    const Steps out = restrict_to(segment_, left, outages_);
    out_.unavailable[axis] += integral(segment_, out);
    left = sum_steps(std::array{&std::as_const(left)}, std::array{&out});
  }

  void finish(std::size_t axis, Steps& left) {
    out_.residual[axis] = integral(segment_, left);
    if (pool_takes_) out_.left[axis] = std::move(left);
  }

  void share_gpus(const AxisUnits& units) {
    if (units[kCompute] == 0) {
      if (pool_takes_) {
        out_.left[kCompute] = out_.left[kMemory] = {{segment_.begin(), 0}};
      }
      return;
    }
    std::size_t seated = 0;
    while (seated < placed_.size() && placed_[seated].level == Demand::Level::kSeat) ++seated;
    const auto on_machine = placed_.subspan(seated);
    charges_by_usage_ = std::any_of(
        placed_.begin(), placed_.begin() + static_cast<std::ptrdiff_t>(seated),
        [&](const PlacedDemand& each) {
          return context_.rules.basis(index_, each.demand->holding).kind != Basis::Kind::kRequest;
        });
    // Step functions cost much more than sums, so they are computed only where they are needed.
    with_steps_ = pool_takes_ || !on_machine.empty() || !outages_.empty() || !exhausted_.empty();
    std::array<UInt128, kGpuAxes> rest = {out_.capacity[kCompute], out_.capacity[kMemory]};
    std::array<std::vector<Steps>, kGpuAxes> more, less;
    std::size_t first = 0;
    for (const std::uint32_t c : machine_.cards) {
      std::size_t last = first;
      while (last < seated && fleet_.seats()[placed_[last].target].card == c) ++last;
      share_card(c, placed_.subspan(first, last - first), first, rest, more, less);
      first = last;
    }
    CHECK(first == seated, "every seat is one of the machine's cards");
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      if (!with_steps_) {
        out_.residual[axis] = rest[axis];
        continue;
      }
      const Steps all = while_present(segment_, present_, units[axis]);
      std::vector<const Steps*> plus = {&all}, minus;
      for (const Steps& steps : more[axis]) plus.push_back(&steps);
      for (const Steps& steps : less[axis]) minus.push_back(&steps);
      Steps left = sum_steps(plus, minus);
      const Steps before = left;
      take(axis, on_machine, seated, left);
      if (charges_by_usage_ && axis == kCompute && !on_machine.empty()) {
        add_requests(segment_, sum_steps(std::array{&before}, std::array{&std::as_const(left)}));
      }
      make_unavailable(axis, left);
      if (!exhausted_.empty()) {
        const Steps stuck = restrict_to(segment_, left, exhausted_);
        out_.stranded[axis] += integral(segment_, stuck);
        left = sum_steps(std::array{&std::as_const(left)}, std::array{&stuck});
      }
      finish(axis, left);
      out_.unbilled[axis] = std::min(out_.unbilled[axis], out_.residual[axis]);
    }
    count_idle_time(units[kCompute]);
  }

  void add_requests(const Interval& during, const Steps& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Instant end = i + 1 < steps.size() ? steps[i + 1].at : during.end();
      if (steps[i].units > 0) requests_.push_back({Interval(steps[i].at, end), steps[i].units});
    }
  }

  // What is requested of a seat, at no instant more than it has.
  void add_requests_of_seat(const Interval& there, std::uint64_t compute,
                            std::span<const SeatClaim> claims, std::span<const Interval> outages) {
    std::vector<CapacityRequest> requests;
    std::uint64_t at_most = 0;
    for (const SeatClaim& each : claims) {
      requests.push_back({each.during, each.requested[kCompute]});
      at_most += each.requested[kCompute];
    }
    if (at_most <= compute && outages.empty()) {
      requests_.insert(requests_.end(), requests.begin(), requests.end());
      return;
    }
    const Steps all = {{there.begin(), compute}};
    const Steps rest = divide_capacity(there, all, requests).residual;
    add_requests(there, sum_steps(std::array{&all}, std::array{&rest}));
    if (!outages.empty()) {
      out_of_use_.push_back(over_segment(there, restrict_to(there, rest, outages)));
    }
  }

  // Where holders are charged by what they request, nobody requested what they leave. Elsewhere a
  // seat's holders may leave what they requested, and it may be requested again.
  void count_idle_time(std::uint64_t compute) {
    if (!charges_by_usage_) {
      out_.idle = {out_.unavailable[kCompute], out_.stranded[kCompute], out_.residual[kCompute]};
      return;
    }
    const Steps capacity = while_present(segment_, present_, compute);
    if (with_steps_) {
      divide_idle_time(divide_capacity(segment_, capacity, requests_).residual);
      return;
    }
    // Nothing is requested twice: no seat gives more than it has, and only seats have holders.
    UInt128 requested = 0;
    for (const CapacityRequest& each : requests_) {
      requested += UInt128{each.units} * each.during.length_ms();
    }
    for (const Steps& out : out_of_use_) out_.idle.unavailable += integral(segment_, out);
    out_.idle.stranded = out_.stranded[kCompute];
    out_.idle.free =
        out_.capacity[kCompute] - requested - out_.idle.unavailable - out_.idle.stranded;
  }

  // By instant: of what nobody requested, first what a MIG layout leaves over, then what is out of
  // use, then what nobody could have used.
  void divide_idle_time(const Steps& unrequested) {
    const Steps one = {{segment_.begin(), 1}};
    const Steps none = {{segment_.begin(), 0}};
    const std::array levels = {
        unrequested, left_over_.empty() ? none : sum_steps(pointers_to(left_over_)),
        out_of_use_.empty() ? none : sum_steps(pointers_to(out_of_use_)),
        restrict_to(segment_, one, outages_), restrict_to(segment_, one, exhausted_)};
    std::vector<Instant> at = {segment_.end()};
    std::vector<StepCursor> cursors;
    for (const Steps& steps : levels) {
      for (const Step& step : steps) at.push_back(step.at);
      cursors.emplace_back(steps);
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      std::array<std::uint64_t, levels.size()> now{};
      for (std::size_t l = 0; l < now.size(); ++l) now[l] = cursors[l].level_at(at[i]);
      auto [rest, left_over, out_of_use, is_out, is_exhausted] = now;
      std::uint64_t stranded = std::min(rest, left_over);
      rest -= stranded;
      const std::uint64_t unavailable = is_out != 0 ? rest : std::min(rest, out_of_use);
      rest -= unavailable;
      if (is_exhausted != 0) stranded += std::exchange(rest, 0);
      const auto length_ms = static_cast<std::uint64_t>((at[i + 1] - at[i]).count());
      out_.idle += {.unavailable = UInt128{unavailable} * length_ms,
                    .stranded = UInt128{stranded} * length_ms,
                    .free = UInt128{rest} * length_ms};
      if (pool_takes_) append_step(out_.free_levels, at[i], rest);
    }
  }

  static std::vector<const Steps*> pointers_to(const std::vector<Steps>& all) {
    std::vector<const Steps*> out;
    for (const Steps& steps : all) out.push_back(&steps);
    return out;
  }

  // Handles a GPU with holders of its own, a MIG layout or an outage. The GPU is taken out of the
  // machine's capacity, and what its seats leave is added back.
  void share_card(std::uint32_t index, std::span<const PlacedDemand> placed, std::size_t first,
                  std::array<UInt128, kGpuAxes>& rest,
                  std::array<std::vector<Steps>, kGpuAxes>& more,
                  std::array<std::vector<Steps>, kGpuAxes>& less) {
    const Fleet::InstalledGpu& card = fleet_.cards()[index];
    const auto there = card.present ? card.present->overlap(present_) : std::nullopt;
    if (!there) {
      CHECK(placed.empty(), "nobody is on a card that is not there");
      return;
    }
    const auto outages = union_of(*there, card.outages);
    if (placed.empty() && !card.is_cut && outages.empty()) return;
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      rest[axis] -= UInt128{card.units[axis]} * there->length_ms();
      out_.stranded[axis] += UInt128{card.stranded[axis]} * there->length_ms();
      if (with_steps_) less[axis].push_back(while_present(segment_, *there, card.units[axis]));
    }
    if (charges_by_usage_ && with_steps_ && card.stranded[kCompute] > 0) {
      left_over_.push_back(while_present(segment_, *there, card.stranded[kCompute]));
    }
    std::size_t position = 0;
    for (std::uint32_t s = card.first_seat; s < card.first_seat + card.seats; ++s) {
      std::size_t last = position;
      while (last < placed.size() && placed[last].target == s) ++last;
      SeatOccupancy seat = share_of_seat(s, *there, placed.subspan(position, last - position),
                                         first + position, outages);
      position = last;
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        UInt128 residual = seat.residual[axis];
        if (!outages.empty()) {
          const Steps out = restrict_to(*there, seat.left[axis], outages);
          const UInt128 unavailable = integral(*there, out);
          out_.unavailable[axis] += unavailable;
          residual -= unavailable;
          seat.left[axis] =
              sum_steps(std::array{&std::as_const(seat.left[axis])}, std::array{&out});
        }
        rest[axis] += residual;
        out_.unbilled[axis] += std::min(UInt128{seat.unbilled[axis]}, residual);
        if (with_steps_) more[axis].push_back(over_segment(*there, std::move(seat.left[axis])));
      }
    }
    CHECK(position == placed.size(), "every cut is on one of the card's seats");
  }

  // Extends the steps of a part of the segment to all of it.
  Steps over_segment(const Interval& there, Steps steps) const {
    if (segment_.begin() < there.begin()) steps.insert(steps.begin(), {segment_.begin(), 0});
    if (there.end() < segment_.end()) steps.push_back({there.end(), 0});
    return steps;
  }

  SeatOccupancy share_of_seat(std::uint32_t index, const Interval& there,
                              std::span<const PlacedDemand> placed, std::size_t first,
                              std::span<const Interval> outages) {
    const Fleet::Seat& seat = fleet_.seats()[index];
    std::vector<SeatClaim> claims;
    claims.reserve(placed.size());
    for (const PlacedDemand& each : placed) {
      const auto during = each.during.overlap(there);
      CHECK(during.has_value(), "a cut lies within the presence of its card");
      claims.push_back(
          {.during = *during,
           .requested = {each.units[kCompute], each.units[kMemory]},
           .basis = context_.rules.basis(index_, each.demand->holding),
           .own = seen_.workload(index, context_.holdings[each.demand->holding]->workload),
           .weights = context_.rules.weights(index_, each.demand->holding)});
    }
    const bool differ = context_.rules.differ_by_holder() && is_whole_gpu(seat.units) &&
                        std::ranges::any_of(claims, [&](const SeatClaim& claim) {
                          return claim.weights != claims.front().weights;
                        });
    if (charges_by_usage_) add_requests_of_seat(there, seat.units[kCompute], claims, outages);
    SeatOccupancy shared = share_seat(
        {.during = there,
         .capacity = seat.units,
         .claims = claims,
         .device = seen_.device(index),
         .telemetry_begin = seen_.from(),
         .with_steps = with_steps_ || !outages.empty(),
         .weights = differ ? std::optional(context_.rules.weights(index_)) : std::nullopt});
    for (std::size_t i = 0; i < placed.size(); ++i) {
      MachineHolder& part = out_.holders[first + i];
      const SeatShare& share = shared.shares[i];
      part.card = seat.card;
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        part.given[axis] += share.given[axis];
        part.used[axis] += share.used[axis];
      }
      part.weight_cut += share.weight_cut;
      part.idle_time = GpuTime::of(share.idle);
      part.observed_time = GpuTime::of(share.observed);
    }
    return shared;
  }

  const Interval& segment_;
  std::uint32_t index_;
  const Fleet::Machine& machine_;
  std::span<const PlacedDemand> placed_;
  const AllocationContext& context_;
  const Fleet& fleet_;
  const UtilizationIndex& seen_;
  bool pool_takes_;
  bool with_steps_ = false;
  Interval present_{segment_};
  std::vector<Interval> outages_;    // of the machine
  std::vector<Interval> exhausted_;  // when all of its CPU or memory was held
  // Where a seat's holders are charged by what they use: what is requested of compute, at no
  // instant more of a seat than it has, and what nobody requested of seats that are out of use or
  // left over by a MIG layout.
  bool charges_by_usage_ = false;
  std::vector<CapacityRequest> requests_;
  std::vector<Steps> out_of_use_, left_over_;
  MachineOccupancy out_;
};

}  // namespace

std::vector<PlacedDemand> place_demands(const Interval& segment,
                                        std::span<const Demand* const> active,
                                        const AllocationContext& context,
                                        const UtilizationIndex& seen) {
  const Fleet& fleet = context.fleet;
  std::vector<PlacedDemand> placed;
  placed.reserve(active.size());
  for (const Demand* demand : active) {
    const auto during = demand->during.overlap(segment);
    if (!during) continue;
    PlacedDemand each{.demand = demand,
                      .level = demand->level,
                      .machine = demand->machine,
                      .target = demand->target,
                      .during = *during,
                      .units = demand->units};
    if (demand->level == Demand::Level::kMachine && demand->devices > 0) {
      const auto seats =
          seats_by_telemetry(*demand, *context.holdings[demand->holding], *during, fleet, seen);
      for (std::uint32_t i = 0; i < seats.size(); ++i) {
        PlacedDemand one = each;
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
        placed.push_back(one);
      }
      if (!seats.empty()) continue;
    }
    placed.push_back(each);
  }
  // The seats of a card are adjacent and the cards of a machine ascend, so this sorts by card too.
  std::stable_sort(placed.begin(), placed.end(), [](const PlacedDemand& a, const PlacedDemand& b) {
    return std::tie(a.machine, a.level, a.target) < std::tie(b.machine, b.level, b.target);
  });
  return placed;
}

MachineOccupancy machine_occupancy(const Interval& segment, std::uint32_t machine,
                                   std::span<const PlacedDemand> placed,
                                   const AllocationContext& context, const UtilizationIndex& seen,
                                   bool pool_takes) {
  return MachineSharing(segment, machine, placed, context, seen, pool_takes).run();
}

}  // namespace pennyweight
