#include "insight/replay/reservation.h"

#include <algorithm>
#include <unordered_map>

namespace pennyweight::replay {
namespace {

bool has_room(const FreeMachine& free, const Share& share) {
  if (free.cpu_milli < share.cpu_milli || free.memory_mib < share.memory_mib) return false;
  for (std::uint32_t i = 0; i < kGpusPerMachineMax; ++i) {
    if (((share.gpu_mask >> i) & 1) != 0 && free.by_gpu[i] < share.gpu_milli) return false;
  }
  return true;
}

void take_from(FreeMachine& free, const Share& share) {
  free.cpu_milli -= share.cpu_milli;
  free.memory_mib -= share.memory_mib;
  for (std::uint32_t i = 0; i < kGpusPerMachineMax; ++i) {
    if (((share.gpu_mask >> i) & 1) == 0) continue;
    free.by_gpu[i] = static_cast<std::uint16_t>(free.by_gpu[i] - share.gpu_milli);
    free.gpu_milli -= share.gpu_milli;
  }
}

}  // namespace

std::optional<Reservation> Reservation::find(const ClusterState& cluster, Placement& placement,
                                             const Request& request,
                                             const std::set<ExpectedEnd>& running,
                                             const std::vector<Shares>& held, std::int64_t now_us) {
  if (request.gpus > cluster.largest_machine()) {
    return find_by_rule(cluster, placement, request, running, held, now_us);
  }
  // Nobody can hold the request now, so the first that can is the machine that a job leaves.
  std::unordered_map<std::uint32_t, FreeMachine> changed;
  for (const ExpectedEnd& end : running) {
    std::vector<std::uint32_t> fitting;
    for (const Share& share : held[end.job]) {
      const Machine& machine = cluster.machines()[share.machine];
      FreeMachine& free =
          changed.try_emplace(share.machine, cluster.free_on(share.machine)).first->second;
      give_back(free, machine, share);
      if (fits(free, machine, request)) fitting.push_back(share.machine);
    }
    if (fitting.empty()) continue;
    if (fitting.size() > 1) {
      return find_by_rule(cluster, placement, request, running, held, now_us);
    }
    Reservation found;
    // A job that has outlived its estimate ends at any moment.
    found.begin_us_ = std::max(now_us, end.end_us);
    FreeMachine& free = changed.at(fitting.front());
    take_from(free, cluster.share_of(free, fitting.front(), request));
    found.spare_.emplace(fitting.front(), free);
    return found;
  }
  return std::nullopt;
}

std::optional<Reservation> Reservation::find_by_rule(const ClusterState& cluster,
                                                     Placement& placement, const Request& request,
                                                     const std::set<ExpectedEnd>& running,
                                                     const std::vector<Shares>& held,
                                                     std::int64_t now_us) {
  // Before so much is free, it is not worth asking.
  const std::uint64_t idle_enough =
      request.gpus > cluster.largest_machine() ? request.gpus - cluster.largest_machine() : 0;
  std::unordered_map<std::uint32_t, FreeMachine> changed;
  std::uint64_t idle_gpus = placement.idle_gpus();
  std::optional<Reservation> found;
  std::vector<std::uint32_t> given_back;
  auto left = running.begin();  // from here on given back on copies only
  for (const ExpectedEnd& end : running) {
    for (const Share& share : held[end.job]) {
      const Machine& machine = cluster.machines()[share.machine];
      FreeMachine& free =
          changed.try_emplace(share.machine, cluster.free_on(share.machine)).first->second;
      const bool was_idle = free.whole_gpus == machine.gpus;
      give_back(free, machine, share);
      if (!was_idle && free.whole_gpus == machine.gpus) idle_gpus += machine.gpus;
    }
    if (idle_gpus < idle_enough) continue;
    for (; left != running.end() && *left <= end; ++left) {
      placement.give_back(held[left->job]);
      given_back.push_back(left->job);
    }
    const std::optional<Shares> shares = placement.find(request);
    if (!shares) continue;
    found.emplace();
    found->begin_us_ = std::max(now_us, end.end_us);
    for (const Share& share : *shares) {
      FreeMachine spare = cluster.free_on(share.machine);
      take_from(spare, share);
      found->spare_.emplace(share.machine, spare);
    }
    break;
  }
  for (const std::uint32_t job : given_back) placement.take(held[job]);
  return found;
}

bool Reservation::admits(const Shares& shares, std::int64_t end_us) {
  if (end_us <= begin_us_) return true;
  for (const Share& share : shares) {
    const auto reserved = spare_.find(share.machine);
    if (reserved != spare_.end() && !has_room(reserved->second, share)) return false;
  }
  for (const Share& share : shares) {
    const auto reserved = spare_.find(share.machine);
    if (reserved != spare_.end()) take_from(reserved->second, share);
  }
  return true;
}

}  // namespace pennyweight::replay
