#include "insight/replay/team_usage.h"

#include <algorithm>
#include <map>

namespace pennyweight::replay {
namespace {

// 2^(-1/64) as a fraction of 2^32, rounded to nearest: integers decay alike on every machine.
constexpr std::uint64_t kStepFactor = 4'248'701'965;

}  // namespace

TeamUsage::TeamUsage(std::span<const Job> jobs, const Scheduling& scheduling)
    : by_use_(scheduling.order == QueueOrder::kDecayedFairShare),
      step_us_(std::max<std::int64_t>(1, scheduling.half_life_us / 64)),
      next_step_us_(step_us_) {
  std::map<std::string, std::uint32_t, std::less<>> numbers;
  team_of_job_.reserve(jobs.size());
  for (const Job& job : jobs) {
    const auto [at, is_new] =
        numbers.try_emplace(job.team, static_cast<std::uint32_t>(teams_.size()));
    if (is_new) {
      const auto weight = scheduling.team_weights.find(job.team);
      teams_.push_back({.weight = weight == scheduling.team_weights.end()
                                      ? 1
                                      : std::max<std::uint32_t>(1, weight->second)});
    }
    team_of_job_.push_back(at->second);
  }
}

void TeamUsage::advance(std::int64_t now_us) {
  if (!by_use_) return;
  while (counted_to_us_ < now_us) {
    const std::int64_t to = std::min(now_us, next_step_us_);
    const auto span = static_cast<UInt128>(to - counted_to_us_);
    for (Team& team : teams_) team.used += span * team.held;
    counted_to_us_ = to;
    if (to == next_step_us_) decay_step();
  }
}

void TeamUsage::decay_step() {
  next_step_us_ += step_us_;
  for (Team& team : teams_) {
    // In two halves, since the product of all bits could exceed 128.
    const UInt128 high = team.used >> 32;
    const UInt128 low = team.used & 0xffff'ffff;
    team.used = high * kStepFactor + ((low * kStepFactor) >> 32);
  }
}

bool TeamUsage::is_before(std::uint32_t a, std::uint32_t b) const {
  const Team& left = teams_[a];
  const Team& right = teams_[b];
  if (by_use_) return left.used * right.weight < right.used * left.weight;
  return static_cast<UInt128>(left.held) * right.weight <
         static_cast<UInt128>(right.held) * left.weight;
}

}  // namespace pennyweight::replay
