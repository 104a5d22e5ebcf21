#include "insight/what_if/fragmentation.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "insight/replay/cluster_state.h"
#include "insight/what_if/figures.h"

namespace pennyweight::what_if {
namespace {

// Jobs by what they request: whole GPUs, thousandths of one; and how many there are.
using KindCounts = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

class FreeGpus {
 public:
  explicit FreeGpus(const ReplayWorld& world) {
    for (const replay::Machine& machine : world.machines) {
      free_.emplace_back(machine.gpus, replay::kMilliPerGpu);
      largest_ = std::max(largest_, machine.gpus);
    }
  }

  void change(const replay::Shares& shares, bool takes) {
    for (const replay::Share& share : shares) {
      std::vector<std::uint32_t>& gpus = free_[share.machine];
      for (std::size_t i = 0; i < gpus.size(); ++i) {
        if (((share.gpu_mask >> i) & 1) == 0) continue;
        gpus[i] = takes ? gpus[i] - share.gpu_milli : gpus[i] + share.gpu_milli;
      }
    }
  }

  void add_to(Fragmentation& sums, const KindCounts& kinds) const {
    for (const std::vector<std::uint32_t>& gpus : free_) {
      std::uint64_t free = 0;
      std::uint32_t whole = 0;
      for (const std::uint32_t milli : gpus) {
        free += milli;
        if (milli == replay::kMilliPerGpu) ++whole;
      }
      if (free == 0) continue;
      for (const auto& [kind, count] : kinds) {
        const auto& [wanted, part] = kind;
        std::uint64_t usable = 0;
        if (part > 0) {
          for (const std::uint32_t milli : gpus) usable += milli >= part ? milli : 0;
        } else if (wanted > largest_ ? whole == gpus.size() : whole >= wanted) {
          usable = std::uint64_t{whole} * replay::kMilliPerGpu;
        }
        sums.idle += Int128{free} * Int128{count};
        sums.unusable += Int128{free - usable} * Int128{count};
      }
    }
  }

 private:
  std::vector<std::vector<std::uint32_t>> free_;  // thousandths of each GPU of each machine
  std::uint32_t largest_ = 0;
};

}  // namespace

std::optional<Fragmentation> fragmentation_of(const ReplayWorld& world,
                                              const replay::Replay& replay) {
  const bool come_and_go = !replay.outages.empty() || !replay.powered.empty() ||
                           !replay.never_on.empty() || !world.layouts.empty();
  KindCounts kinds;
  for (const replay::Job& job : world.jobs) {
    if (job.request.milli_gpus() == 0) continue;
    ++kinds[{job.request.gpus, job.request.gpu_milli}];
  }
  if (come_and_go || kinds.empty()) return std::nullopt;
  // Ends come before begins.
  std::vector<std::tuple<std::int64_t, bool, std::size_t>> changes;
  changes.reserve(replay.runs.size() * 2);
  for (std::size_t i = 0; i < replay.runs.size(); ++i) {
    changes.emplace_back(replay.runs[i].begin_us, true, i);
    changes.emplace_back(replay.runs[i].end_us, false, i);
  }
  std::sort(changes.begin(), changes.end());
  const auto moments = static_cast<std::int64_t>(kMomentsMax);
  const std::int64_t step = std::max<std::int64_t>(1, period_us(world.period) / moments);
  FreeGpus free(world);
  Fragmentation sums;
  auto change = changes.begin();
  for (std::int64_t n = 0; n < moments; ++n) {
    for (; change != changes.end() && std::get<0>(*change) <= n * step; ++change) {
      free.change(replay.runs[std::get<2>(*change)].shares, std::get<1>(*change));
    }
    free.add_to(sums, kinds);
  }
  return sums;
}

}  // namespace pennyweight::what_if
