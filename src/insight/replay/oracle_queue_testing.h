// Who starts: in turn, past those that don't fit, and beside what is reserved for the first of
// these.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "insight/replay/oracle_layouts_testing.h"

namespace pennyweight::replay {

class OracleQueue : public OracleLayouts {
 protected:
  using OracleLayouts::OracleLayouts;

  void start_jobs() {
    std::set<std::uint32_t> tried;
    std::set<std::string> passed;
    std::optional<std::uint32_t> first_blocked;
    std::uint32_t behind = 0;
    first_unfit_.reset();
    divide();
    while (const auto job = next(tried, passed)) {
      tried.insert(*job);
      if (has_its_share(world_.jobs[*job].team) || !is_admitted(*job)) {
        passed.insert(world_.jobs[*job].team);
        continue;
      }
      if (first_blocked && ++behind > world_.policy.depth) return;
      State after = free_;
      const auto shares = place_anywhere(after, *job);
      bool starts = shares.has_value();
      if (!shares) {
        if (!world_.pools.empty()) ask_for_machines(*job);
        if (world_.policy.when_blocked == WhenBlocked::kWait) return;
        const std::int64_t guard = world_.policy.starvation_guard_us;
        if (guard > 0 && now_ - world_.jobs[*job].submit_us >= guard) return;
        if (!first_blocked) first_blocked = job;
      } else if (first_blocked && world_.policy.when_blocked == WhenBlocked::kBackfill) {
        starts = may_overtake(*first_blocked, *job, *shares);
      }
      if (!starts) {
        passed.insert(world_.jobs[*job].team);
        continue;
      }
      free_ = after;
      start(*job, *shares);
    }
  }

  // A reservation stands until its job starts or a job ends at another time than expected.
  bool may_overtake(std::uint32_t first, std::uint32_t job, const Shares& shares) {
    if (!reservation_ || reservation_->job != first) reserve(first);
    if (!reservation_) return false;
    if (expected_end(job) <= reservation_->begin) return true;
    const bool is_clear = std::all_of(shares.begin(), shares.end(), [&](const Share& share) {
      return !reservation_->machines.contains(share.machine) ||
             has_room(reservation_->spare[share.machine], share);
    });
    if (!is_clear) return false;
    for (const Share& share : shares) {
      if (reservation_->machines.contains(share.machine)) {
        change(reservation_->spare, {share}, true);
      }
    }
    return true;
  }

  void reserve(std::uint32_t first) {
    reservation_.reset();
    std::vector<std::pair<std::int64_t, std::uint32_t>> ends;
    for (const std::uint32_t job : running_) {
      ends.emplace_back(state_[job].expected_end, job);
    }
    // Machines that start or come back come after the jobs; one of a pool comes back off.
    const auto jobs = static_cast<std::uint32_t>(world_.jobs.size());
    for (const auto& [machine, power] : power_) {
      if (power.ready) ends.emplace_back(*power.ready, jobs + machine);
    }
    for (const auto& [machine, until] : away_) {
      if (!power_.contains(machine)) ends.emplace_back(until, jobs + machine);
    }
    add_openings(ends);
    std::sort(ends.begin(), ends.end());
    State state = free_;
    for (const auto& [end, job] : ends) {
      change(state, job < jobs ? state_[job].shares : Shares{all_of(job - jobs)}, false);
      const auto shares = place(state, world_.jobs[first].request);
      if (!shares) continue;
      reservation_ = Reserved{first, std::max(now_, end), state, {}};
      for (const Share& share : *shares) reservation_->machines.insert(share.machine);
      return;
    }
  }
};

}  // namespace pennyweight::replay
