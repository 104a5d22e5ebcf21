#include "insight/replay/reservation.h"

#include <algorithm>

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
  std::optional<Reservation> found;
  std::vector<std::uint32_t> given_back;
  const bool needs_several = request.gpus > cluster.largest_machine();
  for (const ExpectedEnd& end : running) {
    bool may_fit = false;
    placement.give_back(held[end.job]);
    for (const Share& share : held[end.job]) {
      may_fit = may_fit || needs_several || cluster.fits(share.machine, request);
    }
    given_back.push_back(end.job);
    if (!may_fit || cluster.free_milli_gpus() < request.milli_gpus()) continue;
    const std::optional<Shares> shares = placement.try_place(request);
    if (!shares) continue;
    found.emplace();
    // A job that has outlived its estimate ends at any moment.
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
