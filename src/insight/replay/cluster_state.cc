#include "insight/replay/cluster_state.h"

#include <algorithm>

#include "core/check.h"

namespace pennyweight::replay {

bool allows_model(const Request& request, const Machine& machine) {
  return request.models == 0 || ((request.models >> machine.model) & 1) != 0;
}

ClusterState::ClusterState(std::span<const Machine> machines) : machines_(machines) {
  all_.reserve(machines.size());
  for (const Machine& machine : machines) {
    CHECK(machine.gpus <= kGpusPerMachineMax, "a share's mask has a bit for each GPU");
    CHECK(machine.model < 64, "a set of models has a bit for each");
    FreeMachine& all = all_.emplace_back();
    all.cpu_milli = machine.cpu_milli;
    all.memory_mib = machine.memory_mib;
    all.whole_gpus = machine.gpus;
    all.gpu_milli = machine.gpus * kMilliPerGpu;
    std::fill_n(all.by_gpu, machine.gpus, static_cast<std::uint16_t>(kMilliPerGpu));
    capacity_milli_ += all.gpu_milli;
    largest_ = std::max(largest_, machine.gpus);
  }
  clear();
}

void ClusterState::clear() {
  free_ = all_;
  free_milli_ = capacity_milli_;
}

bool fits(const FreeMachine& free, const Machine& machine, const Request& request) {
  if (free.is_closed || free.whole_gpus < request.gpus || free.cpu_milli < request.cpu_milli ||
      free.memory_mib < request.memory_mib || !allows_model(request, machine)) {
    return false;
  }
  if (request.gpu_milli == 0) return true;
  if (free.gpu_milli < request.gpu_milli) return false;
  return std::any_of(free.by_gpu, free.by_gpu + machine.gpus,
                     [&](std::uint16_t milli) { return milli >= request.gpu_milli; });
}

void give_back(FreeMachine& free, const Machine& machine, const Share& share) {
  free.cpu_milli += share.cpu_milli;
  free.memory_mib += share.memory_mib;
  if (share.closes) free.is_closed = false;
  for (std::uint32_t i = 0; i < machine.gpus; ++i) {
    if (((share.gpu_mask >> i) & 1) == 0) continue;
    CHECK(free.by_gpu[i] + share.gpu_milli <= kMilliPerGpu, "no more comes back than was taken");
    free.by_gpu[i] = static_cast<std::uint16_t>(free.by_gpu[i] + share.gpu_milli);
    if (free.by_gpu[i] == kMilliPerGpu) ++free.whole_gpus;
    free.gpu_milli += share.gpu_milli;
  }
}

Share ClusterState::share_of(const FreeMachine& free, std::uint32_t machine,
                             const Request& request) const {
  const std::uint32_t gpus = machines_[machine].gpus;
  Share share{.machine = machine,
              .gpu_mask = 0,
              .gpu_milli = request.gpu_milli > 0 ? request.gpu_milli : kMilliPerGpu,
              .closes = false,
              .cpu_milli = request.cpu_milli,
              .memory_mib = request.memory_mib};
  if (request.gpu_milli > 0) {
    std::uint32_t best = gpus;
    for (std::uint32_t i = 0; i < gpus; ++i) {
      if (free.by_gpu[i] < request.gpu_milli) continue;
      if (best == gpus || free.by_gpu[i] < free.by_gpu[best]) best = i;
    }
    CHECK(best < gpus, "the caller has asked whether it fits");
    share.gpu_mask = 1u << best;
    return share;
  }
  std::uint32_t missing = request.gpus;
  for (std::uint32_t i = 0; i < gpus && missing > 0; ++i) {
    if (free.by_gpu[i] != kMilliPerGpu) continue;
    share.gpu_mask |= 1u << i;
    --missing;
  }
  CHECK(missing == 0, "the caller has asked whether it fits");
  return share;
}

bool ClusterState::is_untouched(std::uint32_t machine) const {
  const FreeMachine& free = free_[machine];
  const FreeMachine& all = all_[machine];
  return free.gpu_milli == all.gpu_milli && free.cpu_milli == all.cpu_milli &&
         free.memory_mib == all.memory_mib;
}

bool ClusterState::is_free(const Share& share) const {
  const FreeMachine& free = free_[share.machine];
  if (free.cpu_milli < share.cpu_milli || free.memory_mib < share.memory_mib) return false;
  for (std::uint32_t i = 0; i < machines_[share.machine].gpus; ++i) {
    if (((share.gpu_mask >> i) & 1) != 0 && free.by_gpu[i] < share.gpu_milli) return false;
  }
  return true;
}

void ClusterState::take(const Share& share) {
  FreeMachine& free = free_[share.machine];
  CHECK(free.cpu_milli >= share.cpu_milli && free.memory_mib >= share.memory_mib,
        "a share is taken from what is free");
  free.cpu_milli -= share.cpu_milli;
  free.memory_mib -= share.memory_mib;
  if (share.closes) free.is_closed = true;
  for (std::uint32_t i = 0; i < machines_[share.machine].gpus; ++i) {
    if (((share.gpu_mask >> i) & 1) == 0) continue;
    CHECK(free.by_gpu[i] >= share.gpu_milli, "a share is taken from what is free");
    if (free.by_gpu[i] == kMilliPerGpu) --free.whole_gpus;
    free.by_gpu[i] = static_cast<std::uint16_t>(free.by_gpu[i] - share.gpu_milli);
    free.gpu_milli -= share.gpu_milli;
    free_milli_ -= share.gpu_milli;
  }
}

void ClusterState::give_back(const Share& share) {
  FreeMachine& free = free_[share.machine];
  const std::uint32_t before = free.gpu_milli;
  replay::give_back(free, machines_[share.machine], share);
  free_milli_ += free.gpu_milli - before;
}

}  // namespace pennyweight::replay
