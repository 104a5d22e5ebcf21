// Whose turn it is among teams (max-min, use that decays, DRF, proportion), and what quotas and
// parts of the day refuse.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "insight/replay/oracle_jobs_testing.h"

namespace pennyweight::replay {

class OracleTeams : public OracleJobs {
 protected:
  using OracleJobs::OracleJobs;

  std::uint64_t held_by(const std::string& team) const {
    std::uint64_t held = 0;
    for (const std::uint32_t job : running_) {
      if (world_.jobs[job].team == team) held += world_.jobs[job].request.milli_gpus();
    }
    return held;
  }
  // Counts what teams use up to a time, microsecond by microsecond. What was used before a multiple
  // of a 64th of the half-life counts 2^(-1/64) of it then, rounded down in parts of 2^32.
  void count_use(std::int64_t to) {
    const std::int64_t step = std::max<std::int64_t>(1, world_.policy.half_life_us / 64);
    while (counted_to_ < to) {
      const bool is_any = std::ranges::any_of(used_, [](const auto& of) { return of.second > 0; });
      if (running_.empty() && !is_any) {
        counted_to_ = to;
        return;
      }
      ++counted_to_;
      for (const std::uint32_t job : running_) {
        used_[world_.jobs[job].team] += world_.jobs[job].request.milli_gpus();
      }
      if (counted_to_ % step != 0) continue;
      for (auto& [team, used] : used_) {
        used = static_cast<std::uint64_t>((UInt128{used} * 4'248'701'965) >> 32);
      }
    }
  }
  // What each team deserves by what it asks for: those that ask for less than their part first.
  void divide() {
    deserved_.clear();
    std::map<std::string, std::uint64_t> asked;
    for (const Job& job : world_.jobs) asked[job.team] = 0;
    std::uint64_t left = 0;
    for (const Machine& machine : once()) left += machine.gpus * 1000;
    for (const auto* jobs : {&running_, &waiting_}) {
      for (const std::uint32_t job : *jobs) {
        asked[world_.jobs[job].team] += world_.jobs[job].request.milli_gpus();
      }
    }
    while (true) {
      std::uint64_t weights = 0;
      for (const auto& [team, wanted] : asked) weights += weight_of(team);
      std::map<std::string, std::uint64_t> rest;
      const std::uint64_t all = left;
      for (const auto& [team, wanted] : asked) {
        deserved_[team] = all * weight_of(team) / weights;
        if (wanted > deserved_[team]) {
          rest[team] = wanted;
          continue;
        }
        deserved_[team] = wanted;
        left -= wanted;
      }
      if (rest.size() == asked.size()) return;
      asked = rest;
    }
  }
  // A machine that is cut by the hour counts once.
  std::span<const Machine> once() const {
    return std::span(world_.machines).first(world_.machines.size() - world_.layouts.size());
  }
  bool has_its_share(const std::string& team) const {
    return world_.policy.order == QueueOrder::kProportion && held_by(team) > 0 &&
           held_by(team) >= deserved_.at(team);
  }

  std::uint64_t weight_of(const std::string& team) const {
    const auto weight = world_.policy.team_weights.find(team);
    return weight == world_.policy.team_weights.end() ? 1 : weight->second;
  }

  // Its largest share of the cluster, in parts of 2^40.
  std::uint64_t dominant_share_of(const std::string& team) const {
    std::uint64_t gpus = 0, cpus = 0, memory = 0;
    for (const Machine& machine : once()) {
      gpus += machine.gpus * 1000;
      cpus += machine.cpu_milli;
      memory += machine.memory_mib;
    }
    std::uint64_t held_cpus = 0, held_memory = 0;
    for (const std::uint32_t job : running_) {
      if (world_.jobs[job].team != team) continue;
      held_cpus += world_.jobs[job].request.cpu_milli;
      held_memory += world_.jobs[job].request.memory_mib;
    }
    constexpr std::uint64_t kParts = std::uint64_t{1} << 40;
    return std::max({gpus == 0 ? 0 : held_by(team) * kParts / gpus, held_cpus * kParts / cpus,
                     held_memory * kParts / memory});
  }

  // Whether the quotas let the job's team hold it besides what runs.
  bool is_within_quotas(std::uint32_t job) const {
    const auto& quotas = world_.policy.admission.quotas;
    if (quotas.empty()) return true;
    std::uint64_t all_quotas = 0, all_held = 0;
    for (const auto& [team, quota] : quotas) all_quotas += quota.milli_gpus;
    for (const std::uint32_t other : running_) {
      all_held += world_.jobs[other].request.milli_gpus();
    }
    const std::uint64_t wanted = world_.jobs[job].request.milli_gpus();
    if (all_held + wanted > all_quotas) return false;
    const auto own = quotas.find(world_.jobs[job].team);
    if (own == quotas.end() || !own->second.borrowed_milli_max) return true;
    return held_by(world_.jobs[job].team) + wanted <=
           own->second.milli_gpus + *own->second.borrowed_milli_max;
  }

  // Windows of these worlds open once, and close after the world has ended.
  std::int64_t opening_of(const DailyWindow& window) const {
    return window.from_minute * std::int64_t{60'000'000} - world_.policy.admission.begin_of_day_us;
  }
  bool opens_now() const {
    for (const auto& [team, window] : world_.policy.admission.windows) {
      // That of a team without jobs is no event.
      const bool has_jobs = std::any_of(world_.jobs.begin(), world_.jobs.end(),
                                        [&](const Job& job) { return job.team == team; });
      if (has_jobs && opening_of(window) == now_) return true;
    }
    return false;
  }
  bool is_admitted(std::uint32_t job) const {
    const auto& windows = world_.policy.admission.windows;
    const auto window = windows.find(world_.jobs[job].team);
    if (window != windows.end() && now_ < opening_of(window->second)) return false;
    return is_within_quotas(job);
  }

  // The next to be tried of those that weren't yet.
  std::optional<std::uint32_t> next(const std::set<std::uint32_t>& tried,
                                    const std::set<std::string>& passed) const {
    std::optional<std::uint32_t> best;
    const bool is_drf = world_.policy.order == QueueOrder::kDominantResourceFair;
    const bool is_proportion = world_.policy.order == QueueOrder::kProportion;
    const bool is_by_use = world_.policy.order == QueueOrder::kDecayedFairShare;
    const bool is_fair =
        is_drf || is_proportion || is_by_use || world_.policy.order == QueueOrder::kMaxMinFair;
    // What its weight, or what it deserves, is compared with.
    const auto part_of = [&](const std::string& team) {
      return is_proportion ? std::max<std::uint64_t>(1, deserved_.at(team)) : weight_of(team);
    };
    const auto used = [&](const std::string& team) {
      if (is_by_use) return used_.contains(team) ? used_.at(team) : std::uint64_t{0};
      return is_drf ? dominant_share_of(team) : held_by(team);
    };
    for (const std::uint32_t job : waiting_) {
      const std::string& team = world_.jobs[job].team;
      if (tried.contains(job) || (is_fair && passed.contains(team))) continue;
      bool is_better = !best;
      if (best) {
        const std::string& other = world_.jobs[*best].team;
        const std::uint64_t mine = is_fair ? used(team) * part_of(other) : 0;
        const std::uint64_t others = is_fair ? used(other) * part_of(team) : 0;
        is_better = std::tuple(mine, key(job)) < std::tuple(others, key(*best));
      }
      if (is_better) best = job;
    }
    return best;
  }

 private:
  std::map<std::string, std::uint64_t> used_;  // thousandths of a GPU times microseconds, decayed
  std::int64_t counted_to_ = 0;
};

}  // namespace pennyweight::replay
