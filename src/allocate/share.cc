#include "allocate/share.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "allocate/fill.h"
#include "core/check.h"

namespace pennyweight {
namespace {

constexpr std::array kParts = {Component::kGpu, Component::kCpu, Component::kMemory};

// One machine of one line in this stretch.
struct Entry {
  std::uint32_t line;
  std::uint32_t machine;
  bool carries_time;
  // What was given to holders in its pool, of the component in hand; and of that, GPU compute.
  UInt128 pooled = 0;
  UInt128 pooled_compute = 0;
  // Of holders that named the machine: what they weigh, and the compute that they asked for.
  UInt128 named = 0;
  UInt128 named_compute = 0;
};

// Lines whose machines are interchangeable: they differ in nothing but the machine.
struct GroupKey {
  std::uint32_t leaf;
  Interval period;
  std::array<Int128, 4> costs;
  std::array<Weight, 3> split;
  AxisAmounts capacity;
  bool carries_time;
  auto operator<=>(const GroupKey&) const = default;
};

// Capacity that is idle for a known reason: what it weighs, and the GPU compute in it.
struct IdleFor {
  UInt128 weight = 0;
  UInt128 compute = 0;
  IdleFor& operator+=(const IdleFor& other) {
    weight += other.weight;
    compute += other.compute;
    return *this;
  }
};

// A machine's or a pool's, by why it is idle; what is idle beyond that is free.
struct IdleKinds {
  IdleFor unavailable;
  IdleFor stranded;
  IdleFor unbilled;
};

class StretchShares {
 public:
  StretchShares(std::uint32_t stretch, const Lines& lines, std::span<const LineStretch> here,
                const Occupancy& occupancy, const Surroundings& around)
      : stretch_(stretch),
        lines_(lines),
        here_(here),
        fleet_(around.fleet),
        occupancy_(occupancy),
        rules_(around.rules) {}

  std::vector<Share> run() {
    for (const LineStretch& at : here_) {
      const Line& line = lines_.all[at.line];
      switch (line.kind) {
        case TargetKind::kMachine:
          add_machines(at, line);
          break;
        case TargetKind::kPool:
          share_pool_line(at, line);
          break;
        case TargetKind::kIdle:
          whole(at.line, PostingKind::kUnallocated);
          break;
        case TargetKind::kShared:
          whole(at.line, PostingKind::kShared);
          break;
      }
    }
    for (const Component component : kParts) share_machine_lines(component);
    tell_pool_time();
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

  Share share(std::uint32_t line, Component component, PostingKind kind,
              const Interval& during) const {
    return {.line = line,
            .component = component,
            .stretch = stretch_,
            .kind = kind,
            .during = during,
            .gpu_time = {},
            .memory_time = {},
            .observed_time = {}};
  }

  // A line for nothing on the fleet: its days weigh by their length.
  void whole(std::uint32_t line, PostingKind kind) {
    Share all = share(line, Component::kWhole, kind, occupancy_.stretch);
    all.weight = occupancy_.stretch.length_ms();
    out_.push_back(all);
  }

  void add_machines(const LineStretch& at, const Line& line) {
    if (line.split.empty()) {
      whole(at.line, PostingKind::kUnallocated);
      return;
    }
    const Costs& costs = line.charge->costs;
    for (const std::uint32_t machine : line.machines) {
      const bool carries = line.carries_time[at.position];
      const GroupKey key{.leaf = fleet_.machines()[machine].leaf,
                         .period = line.charge->charge_period,
                         .costs = {costs.billed.ticks(), costs.effective.ticks(),
                                   costs.list.ticks(), costs.contracted.ticks()},
                         .split = {line.split.gpu, line.split.cpu, line.split.memory},
                         .capacity = occupancy_.machines[machine].capacity,
                         .carries_time = carries};
      groups_[key].push_back({.line = at.line, .machine = machine, .carries_time = carries});
    }
  }

  void share_machine_lines(Component component) {
    for (auto& [key, entries] : groups_) {
      // By machine, so that the filling does not follow the bill's line ids.
      std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.machine, a.line) < std::tie(b.machine, b.line);
      });
      if (weight_in(lines_.all[entries.front().line].split, component) == 0) continue;
      for (Entry& entry : entries) {
        entry.pooled = entry.pooled_compute = entry.named = entry.named_compute = 0;
        share_named(component, entry);
      }
      share_pooled(component, key.leaf, entries);
      for (const Entry& entry : entries) share_idle(component, entry);
    }
  }

  // What the holders of a machine weigh. Where rules give holders of one machine different weights
  // they may together weigh more than the machine; then they are scaled down to it.
  std::vector<UInt128> weights_of_parts(Component component, std::uint32_t machine) const {
    const MachineOccupancy& here = occupancy_.machines[machine];
    std::vector<UInt128> weights;
    weights.reserve(here.parts.size());
    UInt128 all = 0;
    for (const HeldPart& part : here.parts) {
      weights.push_back(weigh(part.given, component, rules_.weights(machine, part.holding)));
      all += weights.back();
    }
    const UInt128 capacity = weigh(here.capacity, component, rules_.weights(machine));
    return all > capacity ? split_units(capacity, weights) : weights;
  }

  // Of a part's weight, that of what was used. CPU and memory of the host are not watched.
  UInt128 used_weight(Component component, std::uint32_t machine, const HeldPart& part,
                      UInt128 weight) const {
    if (component != Component::kGpu) return weight;
    const UnitWeights& weights = rules_.weights(machine, part.holding);
    const UInt128 used = weigh_gpu(part.used, weights);
    const UInt128 given = weigh_gpu(part.given, weights);
    if (given == 0) return weight;
    return given == weight ? used : multiply_divide(weight, used, given).quotient;
  }

  // A holder's part of a machine: what it used, and what it held and did not use.
  void share_part(const Share& held, Component component, std::uint32_t machine,
                  const HeldPart& part, UInt128 weight, bool carries) {
    const UInt128 used = used_weight(component, machine, part, weight);
    const bool overhead = rules_.is_overhead(part.holding);
    Share first = held;
    first.kind = overhead ? PostingKind::kOverhead : PostingKind::kUsed;
    first.weight = overhead ? weight : used;
    Share rest = held;
    rest.kind = PostingKind::kHeldIdle;
    rest.weight = weight - first.weight;
    if (carries) {
      // The time that was idle is told whether the basis charges for it or not.
      rest.gpu_time = rest.observed_time = overhead ? GpuTime() : part.idle_time;
      first.gpu_time = part.gpu_time - rest.gpu_time;
      first.observed_time = part.observed_time - rest.observed_time;
    }
    const bool idle = rest.weight > 0 || rest.gpu_time != GpuTime();
    const bool only_idle = idle && first.weight == 0 && first.gpu_time == GpuTime();
    if (carries) (only_idle ? rest : first).memory_time = part.memory_time;
    // Where nothing was idle the first also stands without weight: it tells that somebody held.
    if (!only_idle) add(first);
    if (idle) add(rest);
  }

  // Holders that named the machine or its cards.
  void share_named(Component component, Entry& entry) {
    const MachineOccupancy& machine = occupancy_.machines[entry.machine];
    const auto weights = weights_of_parts(component, entry.machine);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const HeldPart& part = machine.parts[i];
      Share held = share(entry.line, component, PostingKind::kUsed, part.during);
      held.machine = entry.machine;
      held.card = part.card;
      held.holding = part.holding;
      share_part(held, component, entry.machine, part, weights[i],
                 component == Component::kGpu && entry.carries_time);
      entry.named += weights[i];
      entry.named_compute += part.gpu_time.count();
    }
  }

  // What of a machine is left to the pool, no more than its holders leave of its weight.
  UInt128 room_of(Component component, const Entry& entry) const {
    const MachineOccupancy& machine = occupancy_.machines[entry.machine];
    const UnitWeights& weights = rules_.weights(entry.machine);
    return std::min(weigh(machine.residual, component, weights),
                    weigh(machine.capacity, component, weights) - entry.named);
  }

  // Holders somewhere in the pool: their part of this group, laid over its machines one by one.
  void share_pooled(Component component, std::uint32_t leaf_index, std::vector<Entry>& entries) {
    const LeafOccupancy& leaf = occupancy_.leaves[leaf_index];
    if (leaf.parts.empty()) return;
    const std::uint32_t any = entries.front().machine;  // the weights are those of its GPU model
    const UInt128 leaf_room = weigh(leaf.residual, component, rules_.weights(any));
    if (leaf_room == 0) return;
    std::vector<UInt128> amounts;
    UInt128 asked = 0;
    for (const PoolPart& part : leaf.parts) {
      amounts.push_back(weigh(part.given, component, rules_.weights(any, part.holding)));
      asked += amounts.back();
    }
    if (asked > leaf_room) amounts = split_units(leaf_room, amounts);
    std::vector<UInt128> room;
    UInt128 group_room = 0;
    for (const Entry& entry : entries) {
      room.push_back(room_of(component, entry));
      group_room += room.back();
    }
    // Several lines of one machine may be in one group (the same fee twice): each has its own room.
    const auto of_group =
        group_room <= leaf_room ? scaled(amounts, group_room, leaf_room) : std::vector<UInt128>();
    if (of_group.empty()) {
      for (Entry& entry : entries) {
        const UInt128 alone = room_of(component, entry);
        const auto parts = scaled(amounts, alone, leaf_room);
        for (std::size_t i = 0; i < parts.size(); ++i) {
          pool_share(component, entry, leaf.parts[i], parts[i]);
        }
      }
      return;
    }
    for (const Filled& filled : fill(room, of_group)) {
      pool_share(component, entries[filled.machine], leaf.parts[filled.holder], filled.amount);
    }
  }

  void pool_share(Component component, Entry& entry, const PoolPart& part, UInt128 amount) {
    if (amount == 0) return;
    Share held = share(entry.line, component, kind_of(part.holding), part.during);
    held.machine = entry.machine;
    held.holding = part.holding;
    held.weight = amount;
    entry.pooled += amount;
    const UInt128 given = weigh(part.given, component, rules_.weights(entry.machine, part.holding));
    entry.pooled_compute +=
        given == 0 ? 0 : multiply_divide(part.given[kCompute], amount, given).quotient;
    if (component == Component::kGpu && entry.carries_time) {
      carriers_[part.holding].push_back(out_.size());
    }
    add(held);
  }

  PostingKind kind_of(std::uint32_t holding) const {
    return rules_.is_overhead(holding) ? PostingKind::kOverhead : PostingKind::kUsed;
  }

  static IdleKinds idle_kinds(const MachineOccupancy& machine, Component component,
                              const UnitWeights& weights) {
    IdleKinds idle{.unavailable = {.weight = weigh(machine.unavailable, component, weights)},
                   .stranded = {},
                   .unbilled = {}};
    if (component != Component::kGpu) return idle;
    idle.unavailable.compute = machine.unavailable[kCompute];
    idle.stranded = {weigh_gpu(machine.stranded, weights), machine.stranded[kCompute]};
    // Its time is told by its holders, who asked for it.
    idle.unbilled = {.weight = weigh_gpu(machine.unbilled, weights)};
    return idle;
  }

  void share_idle(Component component, const Entry& entry) {
    const MachineOccupancy& machine = occupancy_.machines[entry.machine];
    const UnitWeights& weights = rules_.weights(entry.machine);
    const UInt128 capacity = weigh(machine.capacity, component, weights);
    const UInt128 taken = entry.named + entry.pooled;
    CHECK(taken <= capacity, "no more is given than there is");
    const UInt128 compute = entry.named_compute + entry.pooled_compute;
    const bool carries = component == Component::kGpu && entry.carries_time;
    Share idle = share(entry.line, component, PostingKind::kUnallocated, occupancy_.stretch);
    idle.machine = entry.machine;
    add_idle(
        idle, capacity - taken, idle_kinds(machine, component, weights),
        carries && machine.capacity[kCompute] > compute ? machine.capacity[kCompute] - compute : 0);
  }

  // An idle weight by its kinds, each with its part of the idle GPU time; the last has the rest.
  void add_idle(const Share& idle, UInt128 weight, const IdleKinds& kinds, UInt128 compute) {
    struct Part {
      PostingKind kind;
      UInt128 weight;
      UInt128 compute;
    };
    std::vector<Part> parts;
    const auto take = [&](PostingKind kind, const IdleFor& of_kind) {
      const UInt128 part = std::min(weight, of_kind.weight);
      if (part == 0) return;
      const UInt128 time = std::min(compute, of_kind.compute);
      parts.push_back({kind, part, time});
      weight -= part;
      compute -= time;
    };
    take(PostingKind::kUnavailable, kinds.unavailable);
    take(PostingKind::kStranded, kinds.stranded);
    take(PostingKind::kHeldIdle, kinds.unbilled);
    if (weight > 0) parts.push_back({PostingKind::kUnallocated, weight, 0});
    if (!parts.empty()) parts.back().compute += compute;
    for (const Part& part : parts) {
      Share kind = idle;
      kind.kind = part.kind;
      kind.weight = part.weight;
      kind.gpu_time = GpuTime::of(part.compute);
      add(kind);
    }
  }

  // A line for a pool as a whole is shared by everybody in the pool, wherever they are in it.
  void share_pool_line(const LineStretch& at, const Line& line) {
    if (line.split.empty()) {
      whole(at.line, PostingKind::kUnallocated);
      return;
    }
    for (const Component component : kParts) {
      if (weight_in(line.split, component) == 0) continue;
      share_pool_component(at, line, component,
                           component == Component::kGpu && line.carries_time[at.position]);
    }
  }

  void share_pool_component(const LineStretch& at, const Line& line, Component component,
                            bool carries) {
    AxisAmounts capacity{};
    UInt128 room = 0, taken = 0, compute = 0;
    IdleKinds idle;
    std::map<std::uint32_t, Share> pooled;  // by holding
    for (const std::uint32_t leaf : line.leaves) {
      UInt128 leaf_named = 0, leaf_capacity = 0;
      for (const std::uint32_t machine : fleet_.leaves()[leaf].nodes) {
        const MachineOccupancy& here = occupancy_.machines[machine];
        const UnitWeights& weights = rules_.weights(machine);
        const auto parts = weights_of_parts(component, machine);
        for (std::size_t i = 0; i < parts.size(); ++i) {
          const HeldPart& part = here.parts[i];
          Share held = share(at.line, component, PostingKind::kUsed, part.during);
          held.holding = part.holding;
          share_part(held, component, machine, part, parts[i], carries);
          leaf_named += parts[i];
          compute += part.gpu_time.count();
        }
        const IdleKinds here_idle = idle_kinds(here, component, weights);
        idle.unavailable += here_idle.unavailable;
        idle.stranded += here_idle.stranded;
        idle.unbilled += here_idle.unbilled;
        leaf_capacity += weigh(here.capacity, component, weights);
        capacity[kCompute] += here.capacity[kCompute];
      }
      room += leaf_capacity;
      taken += leaf_named;
      taken += share_pool_parts(at, component, leaf, leaf_capacity - leaf_named, pooled, compute);
    }
    for (auto& [holding, held] : pooled) {
      if (carries && occupancy_.pool_gpu_time.contains(holding)) {
        carriers_[holding].push_back(out_.size());
      }
      add(held);
    }
    CHECK(taken <= room, "no more is given than there is");
    add_idle(share(at.line, component, PostingKind::kUnallocated, occupancy_.stretch), room - taken,
             idle, carries && capacity[kCompute] > compute ? capacity[kCompute] - compute : 0);
  }

  // Holders in the pool, of one leaf; what they weigh, no more than `room`.
  UInt128 share_pool_parts(const LineStretch& at, Component component, std::uint32_t leaf,
                           UInt128 room, std::map<std::uint32_t, Share>& pooled, UInt128& compute) {
    const auto& parts = occupancy_.leaves[leaf].parts;
    if (parts.empty()) return 0;
    const std::uint32_t any = fleet_.leaves()[leaf].nodes.front();
    std::vector<UInt128> weights;
    UInt128 all = 0;
    for (const PoolPart& part : parts) {
      weights.push_back(weigh(part.given, component, rules_.weights(any, part.holding)));
      all += weights.back();
      compute += part.given[kCompute];
    }
    if (all > room) {
      weights = split_units(room, weights);
      all = room;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto [held, is_new] = pooled.try_emplace(
          parts[i].holding, share(at.line, component, kind_of(parts[i].holding), parts[i].during));
      held->second.holding = parts[i].holding;
      held->second.weight += weights[i];
    }
    return all;
  }

  // A holder in a pool asked for its GPU time once, however many machines it was laid over. The
  // part of it that lies on machines without a bill line is on no posting.
  void tell_pool_time() {
    for (const auto& [holding, positions] : carriers_) {
      std::vector<Weight> parts;
      UInt128 told = 0;
      for (const std::size_t position : positions) {
        parts.push_back(out_[position].weight);
        told += parts.back();
      }
      UInt128 in_all = 0;
      for (std::size_t l = 0; l < occupancy_.leaves.size(); ++l) {
        const LeafOccupancy& leaf = occupancy_.leaves[l];
        const auto part =
            std::lower_bound(leaf.parts.begin(), leaf.parts.end(), holding,
                             [](const PoolPart& p, std::uint32_t h) { return p.holding < h; });
        if (part != leaf.parts.end() && part->holding == holding) {
          const std::uint32_t any = fleet_.leaves()[l].nodes.front();
          in_all += weigh(part->given, Component::kGpu, rules_.weights(any, holding));
        }
      }
      if (told == 0) continue;
      // Scaling to a group of machines cuts off less than a unit each time; that is not "without a
      // line", so a rest smaller than the number of machines is told too.
      const UInt128 rest = in_all > told + fleet_.machines().size() ? in_all - told : 0;
      parts.push_back(rest);
      const auto gpu = split_units(occupancy_.pool_gpu_time.at(holding).count(), parts);
      const auto memory = split_units(occupancy_.pool_memory_time.at(holding).count(), parts);
      for (std::size_t i = 0; i < positions.size(); ++i) {
        out_[positions[i]].gpu_time += GpuTime::of(gpu[i]);
        out_[positions[i]].memory_time += MemoryTime::of(memory[i]);
      }
    }
  }

  void add(const Share& candidate) { out_.push_back(candidate); }

  std::uint32_t stretch_;
  const Lines& lines_;
  std::span<const LineStretch> here_;
  const Fleet& fleet_;
  const Occupancy& occupancy_;
  const SharingRules& rules_;
  std::map<GroupKey, std::vector<Entry>> groups_;
  std::map<std::uint32_t, std::vector<std::size_t>> carriers_;  // by holding: positions in out_
  std::vector<Share> out_;
};

}  // namespace

std::vector<Share> shares_of(std::uint32_t stretch, const Lines& lines,
                             std::span<const LineStretch> here, const Occupancy& occupancy,
                             const Surroundings& around) {
  return StretchShares(stretch, lines, here, occupancy, around).run();
}

}  // namespace pennyweight
