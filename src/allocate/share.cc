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

class StretchShares {
 public:
  StretchShares(std::uint32_t stretch, const Lines& lines, std::span<const LineStretch> here,
                const Fleet& fleet, const Occupancy& occupancy, const ShareWeights& weights)
      : stretch_(stretch),
        lines_(lines),
        here_(here),
        fleet_(fleet),
        occupancy_(occupancy),
        weights_(weights) {}

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
  UInt128 weigh(const AxisAmounts& amounts, Component component) const {
    switch (component) {
      case Component::kGpu:
        return amounts[kCompute] * weights_.compute + amounts[kMemory] * weights_.memory;
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
        entry.pooled = entry.pooled_compute = 0;
        share_named(component, entry);
      }
      share_pooled(component, key.leaf, entries);
      for (const Entry& entry : entries) share_idle(component, entry);
    }
  }

  // Holders that named the machine or its cards.
  void share_named(Component component, const Entry& entry) {
    for (const HeldPart& part : occupancy_.machines[entry.machine].parts) {
      Share held = share(entry.line, component, PostingKind::kUsed, part.during);
      held.machine = entry.machine;
      held.card = part.card;
      held.holding = part.holding;
      held.weight = weigh(part.given, component);
      if (component == Component::kGpu && entry.carries_time) {
        held.gpu_time = part.gpu_time;
        held.memory_time = part.memory_time;
      }
      add(held);
    }
  }

  // Holders somewhere in the pool: their part of this group, laid over its machines one by one.
  void share_pooled(Component component, std::uint32_t leaf_index, std::vector<Entry>& entries) {
    const LeafOccupancy& leaf = occupancy_.leaves[leaf_index];
    const UInt128 leaf_room = weigh(leaf.residual, component);
    if (leaf.parts.empty() || leaf_room == 0) return;
    std::vector<UInt128> amounts;
    for (const PoolPart& part : leaf.parts) amounts.push_back(weigh(part.given, component));
    std::vector<UInt128> room;
    UInt128 group_room = 0;
    for (const Entry& entry : entries) {
      room.push_back(weigh(occupancy_.machines[entry.machine].residual, component));
      group_room += room.back();
    }
    // Several lines of one machine may be in one group (the same fee twice): each has its own room.
    const auto of_group =
        group_room <= leaf_room ? scaled(amounts, group_room, leaf_room) : std::vector<UInt128>();
    if (of_group.empty()) {
      for (Entry& entry : entries) {
        const UInt128 alone = weigh(occupancy_.machines[entry.machine].residual, component);
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
    Share held = share(entry.line, component, PostingKind::kUsed, part.during);
    held.machine = entry.machine;
    held.holding = part.holding;
    held.weight = amount;
    entry.pooled += amount;
    entry.pooled_compute +=
        multiply_divide(part.given[kCompute], amount, weigh(part.given, component)).quotient;
    if (component == Component::kGpu && entry.carries_time) {
      carriers_[part.holding].push_back(out_.size());
    }
    add(held);
  }

  void share_idle(Component component, const Entry& entry) {
    const MachineOccupancy& machine = occupancy_.machines[entry.machine];
    const UInt128 capacity = weigh(machine.capacity, component);
    UInt128 taken = entry.pooled;
    UInt128 compute = entry.pooled_compute;
    for (const HeldPart& part : machine.parts) {
      taken += weigh(part.given, component);
      compute += part.given[kCompute];
    }
    CHECK(taken <= capacity, "no more is given than there is");
    Share idle = idle_share(entry.line, component, capacity - taken,
                            entry.carries_time ? machine.capacity[kCompute] - compute : 0);
    idle.machine = entry.machine;
    add(idle);
  }

  Share idle_share(std::uint32_t line, Component component, UInt128 weight, UInt128 compute) const {
    Share idle = share(line, component, PostingKind::kUnallocated, occupancy_.stretch);
    idle.weight = weight;
    if (component == Component::kGpu) idle.gpu_time = GpuTime::of(compute);
    return idle;
  }

  // A line for a pool as a whole is shared by everybody in the pool, wherever they are in it.
  void share_pool_line(const LineStretch& at, const Line& line) {
    if (line.split.empty()) {
      whole(at.line, PostingKind::kUnallocated);
      return;
    }
    for (const Component component : kParts) {
      if (weight_in(line.split, component) == 0) continue;
      const bool carries = component == Component::kGpu && line.carries_time[at.position];
      AxisAmounts capacity{};
      std::map<std::uint32_t, Share> by_holding;
      const auto held_by = [&](std::uint32_t holding, const Interval& during) -> Share& {
        auto [found, is_new] =
            by_holding.try_emplace(holding, share(at.line, component, PostingKind::kUsed, during));
        found->second.holding = holding;
        return found->second;
      };
      UInt128 taken = 0, compute = 0;
      for (const std::uint32_t leaf : line.leaves) {
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
          capacity[axis] += occupancy_.leaves[leaf].capacity[axis];
        }
        for (const std::uint32_t machine : fleet_.leaves()[leaf].nodes) {
          for (const HeldPart& part : occupancy_.machines[machine].parts) {
            Share& held = held_by(part.holding, part.during);
            held.weight += weigh(part.given, component);
            taken += weigh(part.given, component);
            compute += part.given[kCompute];
            if (carries) {
              held.gpu_time += part.gpu_time;
              held.memory_time += part.memory_time;
            }
          }
        }
        for (const PoolPart& part : occupancy_.leaves[leaf].parts) {
          held_by(part.holding, part.during).weight += weigh(part.given, component);
          taken += weigh(part.given, component);
          compute += part.given[kCompute];
        }
      }
      for (auto& [holding, held] : by_holding) {
        if (carries && occupancy_.pool_gpu_time.contains(holding)) {
          carriers_[holding].push_back(out_.size());
        }
        add(held);
      }
      const UInt128 all = weigh(capacity, component);
      CHECK(taken <= all, "no more is given than there is");
      add(idle_share(at.line, component, all - taken, carries ? capacity[kCompute] - compute : 0));
    }
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
      for (const LeafOccupancy& leaf : occupancy_.leaves) {
        const auto part =
            std::lower_bound(leaf.parts.begin(), leaf.parts.end(), holding,
                             [](const PoolPart& p, std::uint32_t h) { return p.holding < h; });
        if (part != leaf.parts.end() && part->holding == holding) {
          in_all += weigh(part->given, Component::kGpu);
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
  const ShareWeights& weights_;
  std::map<GroupKey, std::vector<Entry>> groups_;
  std::map<std::uint32_t, std::vector<std::size_t>> carriers_;  // by holding: positions in out_
  std::vector<Share> out_;
};

}  // namespace

std::vector<Share> shares_of(std::uint32_t stretch, const Lines& lines,
                             std::span<const LineStretch> here, const Fleet& fleet,
                             const Occupancy& occupancy, const ShareWeights& weights) {
  return StretchShares(stretch, lines, here, fleet, occupancy, weights).run();
}

}  // namespace pennyweight
