#include "insight/replay/team_usage.h"

#include <algorithm>
#include <map>

namespace pennyweight::replay {
namespace {

// 2^(-1/64) as a fraction of 2^32, rounded to nearest: integers decay alike on every machine.
constexpr std::uint64_t kStepFactor = 4'248'701'965;

constexpr unsigned kShareBits = 40;

UInt128 share_in_parts(UInt128 held, UInt128 all) {
  return all == 0 ? 0 : (held << kShareBits) / all;
}

}  // namespace

TeamUsage::TeamUsage(std::span<const Job> jobs, std::span<const Machine> machines,
                     const Scheduling& scheduling)
    : by_use_(scheduling.order == QueueOrder::kDecayedFairShare),
      by_dominant_share_(scheduling.order == QueueOrder::kDominantResourceFair),
      by_proportion_(scheduling.order == QueueOrder::kProportion),
      step_us_(std::max<std::int64_t>(1, scheduling.half_life_us / 64)),
      next_step_us_(step_us_) {
  for (const Machine& machine : machines) {
    gpus_ += UInt128{1000} * machine.gpus;
    cpus_ += machine.cpu_milli;
    memory_ += machine.memory_mib;
  }
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

void TeamUsage::start(std::uint32_t team, const Request& request) {
  teams_[team].held += request.milli_gpus();
  teams_[team].cpu_held += request.cpu_milli;
  teams_[team].memory_held += request.memory_mib;
}

void TeamUsage::stop(std::uint32_t team, const Request& request) {
  teams_[team].held -= request.milli_gpus();
  teams_[team].cpu_held -= request.cpu_milli;
  teams_[team].memory_held -= request.memory_mib;
}

void TeamUsage::add_waiting(std::uint32_t team, const Request& request) {
  teams_[team].waiting += request.milli_gpus();
}
void TeamUsage::remove_waiting(std::uint32_t team, const Request& request) {
  teams_[team].waiting -= request.milli_gpus();
}

void TeamUsage::divide() {
  if (!by_proportion_) return;
  UInt128 left = gpus_;
  UInt128 weights = 0;
  std::vector<bool> is_open(teams_.size(), true);
  for (const Team& team : teams_) weights += team.weight;
  // Whoever asks for less than its part gets that, and leaves the rest to the others.
  for (bool changed = true; changed;) {
    changed = false;
    const UInt128 all = left;
    const UInt128 all_weights = weights;
    for (std::size_t i = 0; i < teams_.size(); ++i) {
      if (!is_open[i]) continue;
      Team& team = teams_[i];
      team.deserved = static_cast<std::uint64_t>(all * team.weight / all_weights);
      if (team.held + team.waiting > team.deserved) continue;
      team.deserved = team.held + team.waiting;
      is_open[i] = false;
      left -= team.deserved;
      weights -= team.weight;
      changed = true;
    }
  }
}

UInt128 TeamUsage::dominant_share(const Team& team) const {
  return std::max({share_in_parts(team.held, gpus_), share_in_parts(team.cpu_held, cpus_),
                   share_in_parts(team.memory_held, memory_)});
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
  if (by_dominant_share_) {
    return dominant_share(left) * right.weight < dominant_share(right) * left.weight;
  }
  if (by_proportion_) {
    // Who deserves nothing holds a lot of it as soon as it holds anything.
    return static_cast<UInt128>(left.held) * std::max<std::uint64_t>(1, right.deserved) <
           static_cast<UInt128>(right.held) * std::max<std::uint64_t>(1, left.deserved);
  }
  return static_cast<UInt128>(left.held) * right.weight <
         static_cast<UInt128>(right.held) * left.weight;
}

}  // namespace pennyweight::replay
