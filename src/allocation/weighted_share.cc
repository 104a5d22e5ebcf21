#include "allocation/weighted_share.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <tuple>

#include "allocation/fill_machines.h"
#include "allocation/pool_fractions.h"
#include "core/check.h"

namespace pennyweight {
namespace {

constexpr std::array kSplitComponents = {Component::kGpu, Component::kCpu, Component::kMemory};

// One machine of one charge in this segment.
struct ChargedMachine {
  std::uint32_t charge;
  std::uint32_t machine;
  bool carries_time;
  UInt128 pooled = 0;       // the weight given to holders in its pool, of the current component
  UInt128 pooled_free = 0;  // of the compute that nobody else requested, what the pool took
  UInt128 named = 0;        // the weight of holders that named the machine
};

// Charges whose machines are interchangeable: they differ in nothing but the machine.
struct GroupKey {
  std::uint32_t node_group;
  Interval period;
  std::array<Int128, 4> costs;
  std::array<Weight, 3> split;
  AxisAmounts capacity;
  bool carries_time;
  auto operator<=>(const GroupKey&) const = default;
};

// The weight of a machine's or pool's idle capacity by reason; the rest is unallocated.
struct IdleByReason {
  UInt128 unavailable = 0;
  UInt128 stranded = 0;
  UInt128 unbilled = 0;
  IdleByReason& operator+=(const IdleByReason& other) {
    unavailable += other.unavailable;
    stranded += other.stranded;
    unbilled += other.unbilled;
    return *this;
  }
};

class SegmentSharing {
 public:
  SegmentSharing(std::uint32_t segment, const ResolvedCharges& charges,
                 std::span<const ChargeSegment> here, const Occupancy& occupancy,
                 const AllocationContext& context)
      : segment_(segment),
        charges_(charges),
        segments_(here),
        fleet_(context.fleet),
        occupancy_(occupancy),
        selectors_(context.selectors),
        rules_(context.rules) {}

  std::vector<WeightedShare> run() {
    for (const ChargeSegment& at : segments_) {
      const ResolvedCharge& resolved = charges_.all[at.charge];
      switch (resolved.kind) {
        case TargetKind::kMachine:
          add_machines(at, resolved);
          break;
        case TargetKind::kPool:
          share_pool_charge(at, resolved);
          break;
        case TargetKind::kUnusedCommitment:
          add_whole_charge(at.charge, PostingKind::kUnallocated);
          break;
        case TargetKind::kShared:
          add_whole_charge(at.charge, PostingKind::kShared);
          break;
      }
    }
    for (const Component component : kSplitComponents) share_machine_charges(component);
    return std::move(out_);
  }

 private:
  template <class Amounts>
  static UInt128 weigh_gpu(const Amounts& amounts, const UnitWeights& weights) {
    return amounts[kCompute] * weights.compute + amounts[kMemory] * weights.memory;
  }

  static UInt128 weigh(const AxisAmounts& amounts, Component component,
                       const UnitWeights& weights) {
    switch (component) {
      case Component::kGpu:
        return weigh_gpu(amounts, weights);
      case Component::kCpu:
        return amounts[kCpu];
      case Component::kMemory:
        return amounts[kHostMemory];
      case Component::kWhole:
        return 0;
    }
    return 0;
  }

  WeightedShare share(std::uint32_t charge, Component component, PostingKind kind,
                      const Interval& during) const {
    return {.charge = charge,
            .component = component,
            .segment = segment_,
            .kind = kind,
            .during = during,
            .gpu_time = {},
            .memory_time = {},
            .observed_time = {}};
  }

  // A charge for no part of the fleet: its days weigh by their length.
  void add_whole_charge(std::uint32_t charge, PostingKind kind) {
    WeightedShare all = share(charge, Component::kWhole, kind, occupancy_.segment);
    all.weight = occupancy_.segment.length_ms();
    out_.push_back(all);
  }

  void add_machines(const ChargeSegment& at, const ResolvedCharge& resolved) {
    if (resolved.split.empty()) {
      add_whole_charge(at.charge, PostingKind::kUnallocated);
      return;
    }
    const Costs& costs = resolved.charge->costs;
    for (const std::uint32_t machine : resolved.machines) {
      const bool carries = resolved.carries_time[at.position];
      const GroupKey key{.node_group = fleet_.machines()[machine].node_group,
                         .period = resolved.charge->charge_period,
                         .costs = {costs.billed.ticks(), costs.effective.ticks(),
                                   costs.list.ticks(), costs.contracted.ticks()},
                         .split = {resolved.split.gpu, resolved.split.cpu, resolved.split.memory},
                         .capacity = occupancy_.machines[machine].capacity,
                         .carries_time = carries};
      groups_[key].push_back({.charge = at.charge, .machine = machine, .carries_time = carries});
    }
  }

  void share_machine_charges(Component component) {
    for (auto& [key, billed_machines] : groups_) {
      // By machine, so that filling does not follow the order of charge ids.
      std::sort(billed_machines.begin(), billed_machines.end(),
                [](const ChargedMachine& a, const ChargedMachine& b) {
                  return std::tie(a.machine, a.charge) < std::tie(b.machine, b.charge);
                });
      if (component_weight(charges_.all[billed_machines.front().charge].split, component) == 0)
        continue;
      for (ChargedMachine& billed : billed_machines) {
        billed.pooled = billed.pooled_free = billed.named = 0;
        share_named(component, billed);
      }
      share_pooled(component, key.node_group, billed_machines);
      for (const ChargedMachine& billed : billed_machines) share_idle(component, billed);
    }
  }

  // The weights of the holders of a machine. Where rules give holders of one GPU different weights,
  // these were cut to the GPU's at every moment. Those of MIG instances, and of holders that are
  // somewhere on the machine, may still exceed the machine's; then all are scaled down to it.
  std::vector<UInt128> holder_weights(Component component, std::uint32_t machine) const {
    const MachineOccupancy& here = occupancy_.machines[machine];
    std::vector<UInt128> weights;
    weights.reserve(here.holders.size());
    UInt128 all = 0;
    for (const MachineHolder& part : here.holders) {
      weights.push_back(weigh(part.given, component, rules_.weights(machine, part.holding)));
      if (component == Component::kGpu) weights.back() -= part.weight_cut;
      all += weights.back();
    }
    const UInt128 capacity = weigh(here.capacity, component, rules_.weights(machine));
    return all > capacity ? split_units(capacity, weights) : weights;
  }

  // How much of a holder's weight was used. CPU and memory of the host are not observed.
  UInt128 used_weight(Component component, std::uint32_t machine, const MachineHolder& part,
                      UInt128 weight) const {
    if (component != Component::kGpu) return weight;
    const UnitWeights& weights = rules_.weights(machine, part.holding);
    const UInt128 used = weigh_gpu(part.used, weights);
    const UInt128 given = weigh_gpu(part.given, weights);
    if (given == 0) return weight;
    return given == weight ? used : multiply_divide(weight, used, given).quotient;
  }

  // Adds what a holder of a machine used, and what it held and did not use.
  void add_holder(const WeightedShare& held, Component component, std::uint32_t machine,
                  const MachineHolder& part, UInt128 weight, bool carries) {
    const UInt128 used = used_weight(component, machine, part, weight);
    const bool overhead = rules_.is_overhead(part.holding);
    WeightedShare first = held;
    first.kind = overhead ? PostingKind::kOverhead : PostingKind::kUsed;
    first.weight = overhead ? weight : used;
    WeightedShare rest = held;
    rest.kind = PostingKind::kHeldIdle;
    rest.weight = weight - first.weight;
    if (carries) {
      // Idle time is reported whether or not the basis charges for it.
      rest.gpu_time = rest.observed_time = overhead ? GpuTime() : part.idle_time;
      first.gpu_time = part.gpu_time - rest.gpu_time;
      first.observed_time = part.observed_time - rest.observed_time;
    }
    const bool idle = rest.weight > 0 || rest.gpu_time != GpuTime();
    const bool only_idle = idle && first.weight == 0 && first.gpu_time == GpuTime();
    if (carries) (only_idle ? rest : first).memory_time = part.memory_time;
    // Without idle time the first share is added even if it has no weight: it records the holding.
    if (!only_idle) add(first);
    if (idle) add(rest);
  }

  // Adds holders that named the machine or its GPUs.
  void share_named(Component component, ChargedMachine& billed) {
    const MachineOccupancy& machine = occupancy_.machines[billed.machine];
    const auto weights = holder_weights(component, billed.machine);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const MachineHolder& part = machine.holders[i];
      WeightedShare held = share(billed.charge, component, PostingKind::kUsed, part.during);
      held.machine = billed.machine;
      held.card = part.card;
      held.holding = part.holding;
      add_holder(held, component, billed.machine, part, weights[i],
                 component == Component::kGpu && billed.carries_time);
      billed.named += weights[i];
    }
  }

  // What a machine leaves to the pool, no more than its holders leave of its weight.
  UInt128 pool_room(Component component, const ChargedMachine& billed) const {
    const MachineOccupancy& machine = occupancy_.machines[billed.machine];
    const UnitWeights& weights = rules_.weights(billed.machine);
    return std::min(weigh(machine.residual, component, weights),
                    weigh(machine.capacity, component, weights) - billed.named);
  }

  // Lays the holders in the pool over the machines of this group, one machine after the other.
  void share_pooled(Component component, std::uint32_t group_index,
                    std::vector<ChargedMachine>& billed_machines) {
    if (occupancy_.node_groups[group_index].holders.empty()) return;
    // Several charges of one machine may be in one group (the same fee twice): each stands for
    // itself.
    std::vector<ChargedMachine*> rest;
    for (ChargedMachine& billed : billed_machines) rest.push_back(&billed);
    while (!rest.empty()) {
      std::vector<ChargedMachine*> layer, others;
      for (ChargedMachine* billed : rest) {
        const bool is_again = !layer.empty() && layer.back()->machine == billed->machine;
        (is_again ? others : layer).push_back(billed);
      }
      share_pooled_layer(component, group_index, layer);
      rest = std::move(others);
    }
  }

  // REQUIRES: the machines ascend.
  void share_pooled_layer(Component component, std::uint32_t group_index,
                          const std::vector<ChargedMachine*>& layer) {
    const auto& holders = occupancy_.node_groups[group_index].holders;
    std::vector<std::uint32_t> machines;
    std::vector<UInt128> room;
    UInt128 all_room = 0;
    for (const ChargedMachine* billed : layer) {
      machines.push_back(billed->machine);
      room.push_back(pool_room(component, *billed));
      all_room += room.back();
    }
    PoolFractions here(pool_group(group_index), machines);
    const std::vector<UInt128> amounts =
        pool_weights(component, machines.front(), holders, all_room, here);
    const bool carries = component == Component::kGpu && layer.front()->carries_time;
    std::vector<std::vector<std::size_t>> shares(holders.size());  // positions in out_
    for (const MachineFill& filled : fill_machines(room, amounts)) {
      shares[filled.holder].push_back(out_.size());
      pool_share(component, *layer[filled.machine], holders[filled.holder], filled.amount);
    }
    if (!carries) return;
    for (std::size_t i = 0; i < holders.size(); ++i) {
      add_pool_time(here.requested(holders[i]), shares[i], *layer.front(), holders[i]);
    }
    fill_free(here.unrequested(), layer);
  }

  // The weights of the holders in the pool on these machines, at most `room` in all.
  std::vector<UInt128> pool_weights(Component component, std::uint32_t any,
                                    std::span<const PoolHolder> holders, UInt128 room,
                                    PoolFractions& here) const {
    std::vector<AxisAmounts> given(holders.size());
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      const bool counts = component == Component::kGpu
                              ? axis < kGpuAxes
                              : axis == (component == Component::kCpu ? kCpu : kHostMemory);
      if (!counts) continue;
      const auto amounts = here.given(axis, holders);
      for (std::size_t i = 0; i < holders.size(); ++i) given[i][axis] = amounts[i];
    }
    std::vector<UInt128> weights;
    for (std::size_t i = 0; i < holders.size(); ++i) {
      // The weights are those of the node group's GPU model.
      weights.push_back(weigh(given[i], component, rules_.weights(any, holders[i].holding)));
    }
    return fit_pool_weights(component, any, room, weights);
  }

  // Parts are rounded down, so holders who take all there is may be a few units short of it.
  std::vector<UInt128> fit_pool_weights(Component component, std::uint32_t any, UInt128 room,
                                        std::span<const UInt128> weights) const {
    UInt128 all = 0;
    for (const UInt128 weight : weights) all += weight;
    const UInt128 unit = weigh({1, 1, 1, 1}, component, rules_.weights(any));
    const bool takes_all = all > 0 && all + unit * 4 * (weights.size() + 1) >= room;
    if (takes_all) return split_units(room, weights);
    return {weights.begin(), weights.end()};
  }

  PoolFractions::Group& pool_group(std::uint32_t node_group) {
    auto& group = pool_groups_[node_group];
    if (group == nullptr) {
      group = std::make_unique<PoolFractions::Group>(occupancy_, selectors_, fleet_, node_group);
    }
    return *group;
  }

  void pool_share(Component component, ChargedMachine& billed, const PoolHolder& part,
                  UInt128 amount) {
    WeightedShare held = share(billed.charge, component, holder_kind(part.holding), part.during);
    held.machine = billed.machine;
    held.holding = part.holding;
    held.weight = amount;
    billed.pooled += amount;
    add(held);
  }

  // Adds what a holder in the pool requested to its shares, by their weight. A holder that got
  // nothing has a share without weight, which records the holding.
  void add_pool_time(const PoolFractions::Time& time, std::span<const std::size_t> shares,
                     ChargedMachine& any, const PoolHolder& part) {
    if (shares.empty()) {
      if (time.gpu == GpuTime()) return;
      pool_share(Component::kGpu, any, part, 0);
      out_.back().gpu_time = time.gpu;
      out_.back().memory_time = time.memory;
      return;
    }
    std::vector<Weight> weights;
    for (const std::size_t position : shares) weights.push_back(out_[position].weight);
    const auto gpu = split_units(time.gpu.count(), weights);
    const auto memory = split_units(time.memory.count(), weights);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      out_[shares[i]].gpu_time += GpuTime::of(gpu[i]);
      out_[shares[i]].memory_time += MemoryTime::of(memory[i]);
    }
  }

  // The compute that the pool takes fills the machines as its holders do, one after the other.
  void fill_free(UInt128 unrequested, const std::vector<ChargedMachine*>& layer) {
    UInt128 taken = 0;
    for (const ChargedMachine* billed : layer) {
      taken += occupancy_.machines[billed->machine].idle.free;
    }
    CHECK(unrequested <= taken, "the pool leaves no more than its machines do");
    taken -= unrequested;
    for (ChargedMachine* billed : layer) {
      billed->pooled_free = std::min(taken, occupancy_.machines[billed->machine].idle.free);
      taken -= billed->pooled_free;
    }
  }

  PostingKind holder_kind(std::uint32_t holding) const {
    return rules_.is_overhead(holding) ? PostingKind::kOverhead : PostingKind::kUsed;
  }

  static IdleByReason idle_by_reason(const MachineOccupancy& machine, Component component,
                                     const UnitWeights& weights) {
    IdleByReason idle{.unavailable = weigh(machine.unavailable, component, weights)};
    if (component != Component::kGpu) return idle;
    idle.stranded = weigh_gpu(machine.stranded, weights);
    idle.unbilled = weigh_gpu(machine.unbilled, weights);
    return idle;
  }

  void share_idle(Component component, const ChargedMachine& billed) {
    const MachineOccupancy& machine = occupancy_.machines[billed.machine];
    const UnitWeights& weights = rules_.weights(billed.machine);
    const UInt128 capacity = weigh(machine.capacity, component, weights);
    const UInt128 taken = billed.named + billed.pooled;
    CHECK(taken <= capacity, "no more is given than there is");
    WeightedShare idle =
        share(billed.charge, component, PostingKind::kUnallocated, occupancy_.segment);
    idle.machine = billed.machine;
    IdleTime time;
    if (component == Component::kGpu && billed.carries_time) {
      time = machine.idle;
      time.free -= billed.pooled_free;
    }
    add_idle(idle, capacity - taken, idle_by_reason(machine, component, weights), time);
  }

  // Divides an idle weight by its reasons, each with the idle GPU time of that reason; what is left
  // of the weight is unallocated. Where holders are charged for more than they requested, time is
  // left that has no weight: it is told, and costs nothing.
  void add_idle(const WeightedShare& idle, UInt128 weight, const IdleByReason& kinds,
                const IdleTime& time) {
    const auto add_kind = [&](PostingKind kind, UInt128 of_kind, UInt128 compute) {
      const UInt128 part = std::min(weight, of_kind);
      weight -= part;
      if (part == 0 && compute == 0) return;
      WeightedShare one = idle;
      one.kind = kind;
      one.weight = part;
      one.gpu_time = GpuTime::of(compute);
      add(one);
    };
    add_kind(PostingKind::kUnavailable, kinds.unavailable, time.unavailable);
    add_kind(PostingKind::kStranded, kinds.stranded, time.stranded);
    // Its holders report the time, since they requested it.
    add_kind(PostingKind::kHeldIdle, kinds.unbilled, 0);
    add_kind(PostingKind::kUnallocated, weight, time.free);
  }

  // Divides a charge for a whole pool among all holders in the pool, wherever they are in it.
  void share_pool_charge(const ChargeSegment& at, const ResolvedCharge& resolved) {
    if (resolved.split.empty()) {
      add_whole_charge(at.charge, PostingKind::kUnallocated);
      return;
    }
    for (const Component component : kSplitComponents) {
      if (component_weight(resolved.split, component) == 0) continue;
      share_pool_component(at, resolved, component,
                           component == Component::kGpu && resolved.carries_time[at.position]);
    }
  }

  void share_pool_component(const ChargeSegment& at, const ResolvedCharge& resolved,
                            Component component, bool carries) {
    UInt128 room = 0, taken = 0;
    IdleByReason idle;
    IdleTime time;
    std::map<std::uint32_t, WeightedShare> pooled;  // by holding
    // Whose time charges of their own carry.
    const auto& elsewhere = resolved.told_elsewhere[at.position];
    const auto tells = [&](std::uint32_t machine) {
      return !std::binary_search(elsewhere.begin(), elsewhere.end(), machine);
    };
    for (const std::uint32_t node_group : resolved.node_groups) {
      UInt128 group_named = 0, group_capacity = 0;
      IdleTime group_time;
      std::vector<std::uint32_t> machines;  // whose time this charge carries
      for (const std::uint32_t machine : fleet_.node_groups()[node_group].nodes) {
        const MachineOccupancy& here = occupancy_.machines[machine];
        const UnitWeights& weights = rules_.weights(machine);
        const auto parts = holder_weights(component, machine);
        for (std::size_t i = 0; i < parts.size(); ++i) {
          const MachineHolder& part = here.holders[i];
          WeightedShare held = share(at.charge, component, PostingKind::kUsed, part.during);
          held.holding = part.holding;
          add_holder(held, component, machine, part, parts[i], carries && tells(machine));
          group_named += parts[i];
        }
        idle += idle_by_reason(here, component, weights);
        group_capacity += weigh(here.capacity, component, weights);
        if (!carries || !tells(machine)) continue;
        machines.push_back(machine);
        group_time += here.idle;
      }
      room += group_capacity;
      taken += group_named;
      taken += share_pool_holders(at, component, node_group, group_capacity - group_named, pooled);
      if (carries) share_pool_time(node_group, machines, group_time, pooled);
      time += group_time;
    }
    for (auto& [holding, held] : pooled) {
      if (held.weight > 0 || held.gpu_time != GpuTime()) add(held);
    }
    CHECK(taken <= room, "no more is given than there is");
    add_idle(share(at.charge, component, PostingKind::kUnallocated, occupancy_.segment),
             room - taken, idle, time);
  }

  // Tells the time of the holders in the pool on these machines, and takes it from what is free.
  void share_pool_time(std::uint32_t node_group, std::span<const std::uint32_t> machines,
                       IdleTime& idle, std::map<std::uint32_t, WeightedShare>& pooled) {
    if (occupancy_.node_groups[node_group].holders.empty()) return;
    PoolFractions fractions(pool_group(node_group), machines);
    idle.free = fractions.unrequested();
    for (const PoolHolder& part : occupancy_.node_groups[node_group].holders) {
      const PoolFractions::Time time = fractions.requested(part);
      WeightedShare& held = pooled.at(part.holding);
      held.gpu_time += time.gpu;
      held.memory_time += time.memory;
    }
  }

  // Adds the holders in the pool, of one node group, and returns their weight, at most `room`.
  UInt128 share_pool_holders(const ChargeSegment& at, Component component, std::uint32_t node_group,
                             UInt128 room, std::map<std::uint32_t, WeightedShare>& pooled) {
    const auto& parts = occupancy_.node_groups[node_group].holders;
    if (parts.empty()) return 0;
    const std::uint32_t any = fleet_.node_groups()[node_group].nodes.front();
    std::vector<UInt128> weights;
    for (const PoolHolder& part : parts) {
      weights.push_back(weigh(part.given, component, rules_.weights(any, part.holding)));
    }
    weights = fit_pool_weights(component, any, room, weights);
    UInt128 all = 0;
    for (const UInt128 weight : weights) all += weight;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto [held, is_new] = pooled.try_emplace(
          parts[i].holding,
          share(at.charge, component, holder_kind(parts[i].holding), parts[i].during));
      held->second.holding = parts[i].holding;
      held->second.weight += weights[i];
    }
    return all;
  }

  void add(const WeightedShare& candidate) { out_.push_back(candidate); }

  std::uint32_t segment_;
  const ResolvedCharges& charges_;
  std::span<const ChargeSegment> segments_;
  const Fleet& fleet_;
  const Occupancy& occupancy_;
  std::span<const Selector> selectors_;
  const SharingRules& rules_;
  std::map<GroupKey, std::vector<ChargedMachine>> groups_;
  std::map<std::uint32_t, std::unique_ptr<PoolFractions::Group>> pool_groups_;  // by node group
  std::vector<WeightedShare> out_;
};

}  // namespace

std::vector<WeightedShare> compute_shares(std::uint32_t segment, const ResolvedCharges& charges,
                                          std::span<const ChargeSegment> here,
                                          const Occupancy& occupancy,
                                          const AllocationContext& context) {
  return SegmentSharing(segment, charges, here, occupancy, context).run();
}

}  // namespace pennyweight
