// Scores by which a job's machine, and for FGD its GPU, is chosen: GPU clustering and least
// fragmentation, counted anew each time from what is free and what runs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <utility>

#include "insight/replay/oracle_world_testing.h"

namespace pennyweight::replay {

class OracleScores : public OracleState {
 protected:
  using OracleState::OracleState;

  // A job's size: nothing, a part of a GPU, or so many whole ones.
  using JobSize = std::pair<bool, std::uint32_t>;  // whether it is a part, and how many GPUs
  static JobSize size_of(const Share& share) {
    return {share.gpu_milli < 1000, static_cast<std::uint32_t>(std::popcount(share.gpu_mask))};
  }

  // Machines with jobs of this size alone first, then those with others as well, then empty ones,
  // then those with others only; within each the one with the fewest 320ths of a GPU free.
  Int128 clustering_score(const State& state, std::uint32_t machine, const Request& request) const {
    if (request.milli_gpus() == 0) return 0;
    const JobSize mine{request.gpu_milli > 0, std::max<std::uint32_t>(1, request.gpus)};
    std::set<JobSize> sizes;
    const auto add = [&](const Share& share) {
      if (share.machine == machine && share.gpu_mask != 0) sizes.insert(size_of(share));
    };
    for (const std::uint32_t job : running_) {
      for (const Share& share : state_[job].shares) add(share);
    }
    const int group = sizes.contains(mine) ? (sizes.size() == 1 ? 0 : 1) : sizes.empty() ? 2 : 3;
    std::uint32_t milli = 0;
    for (const std::uint32_t gpu : state[machine].gpus) milli += gpu;
    return group * 2600 + (static_cast<int>(milli) + 319) / 320;
  }

  // What the world's jobs, each counted, can't use of what is free on the machine.
  Int128 useless_on(const FreeOn& free, const Machine& machine) const {
    Int128 sum = 0;
    for (const Job& job : world_.jobs) {
      const Request& request = job.request;
      const std::uint32_t each = request.gpus > 0 ? 1000 : request.gpu_milli;
      const auto whole = std::count(free.gpus.begin(), free.gpus.end(), 1000u);
      const bool has_gpus = request.gpus > 0
                                ? whole >= static_cast<std::int64_t>(request.gpus)
                                : std::any_of(free.gpus.begin(), free.gpus.end(),
                                              [&](std::uint32_t milli) { return milli >= each; });
      const bool fits =
          !free.is_closed && free.cpu >= request.cpu_milli && free.memory >= request.memory_mib &&
          (request.models == 0 || ((request.models >> machine.model) & 1) != 0) && has_gpus;
      for (const std::uint32_t milli : free.gpus) {
        if (each == 0 || !fits || milli < each) sum += milli;
      }
    }
    return sum;
  }

  // By how much that grows with the share, on the GPU that makes it grow least: of equal ones that
  // which the share has, and then the first.
  std::pair<Int128, Share> least_growth(const State& state, Share share) const {
    const FreeOn& free = state[share.machine];
    const Machine& machine = world_.machines[share.machine];
    const auto growth = [&](std::uint32_t mask) {
      FreeOn after = free;
      after.cpu -= share.cpu_milli;
      after.memory -= share.memory_mib;
      for (std::uint32_t i = 0; i < after.gpus.size(); ++i) {
        if (((mask >> i) & 1) != 0) after.gpus[i] -= share.gpu_milli;
      }
      return useless_on(after, machine) - useless_on(free, machine);
    };
    std::pair best{growth(share.gpu_mask), share};
    if (share.gpu_milli == 1000) return best;
    for (std::uint32_t i = 0; i < free.gpus.size(); ++i) {
      if (free.gpus[i] < share.gpu_milli || growth(1u << i) >= best.first) continue;
      best.first = growth(1u << i);
      best.second.gpu_mask = 1u << i;
    }
    return best;
  }
};

}  // namespace pennyweight::replay
