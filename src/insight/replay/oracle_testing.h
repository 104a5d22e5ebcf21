// Oracle: SmallOracle's moments with all further rules, each in a file of its own. It is slow and
// obvious: it looks at every microsecond, every job and every GPU.
#pragma once

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "insight/replay/oracle_preemption_testing.h"

namespace pennyweight::replay {

class Oracle : private OraclePreemption {
 public:
  explicit Oracle(const SmallWorld& world) : OraclePreemption(world) {
    all_ = empty();
    free_ = all_;
    for (const NodePool& pool : world.pools) {
      for (std::size_t i = 0; i < pool.machines.size(); ++i) {
        Power& power = power_[pool.machines[i]];
        power.pool = &pool;
        power.is_on = i < pool.least;
        if (!power.is_on) change(free_, {all_of(pool.machines[i])}, true);
      }
    }
    begin_layouts();
  }

  std::vector<OracleRun> run() {
    std::vector<Running> states(world_.jobs.size());
    state_ = states;
    for (std::uint32_t job = 0; job < world_.jobs.size(); ++job) {
      state_[job].left = world_.jobs[job].work_us;
      State nothing_held = all_;
      if (!place(nothing_held, world_.jobs[job].request)) away_only_.insert(job);
      nothing_held = all_;
      if (!place_anywhere(nothing_held, job)) continue;
      if (is_within_quotas(job)) to_come_.insert(job);
    }
    for (now_ = 0; !to_come_.empty() || !waiting_.empty() || !running_.empty(); ++now_) {
      count_use(now_);
      bool something_happened = false;
      for (const std::uint32_t job : std::set<std::uint32_t>(running_)) {
        if (state_[job].left > 0 || state_[job].restart_left > 0) continue;
        if (now_ != state_[job].expected_end) reservation_.reset();
        stop(job);
        something_happened = true;
      }
      if (make_ready()) something_happened = true;
      if (take_back_now()) something_happened = true;
      if (change_layouts()) something_happened = true;
      for (const std::uint32_t job : std::set<std::uint32_t>(to_come_)) {
        if (world_.jobs[job].submit_us != now_) continue;
        to_come_.erase(job);
        waiting_.insert(job);
        something_happened = true;
      }
      if (!waiting_.empty() && opens_now()) something_happened = true;
      for (const std::uint32_t job : waiting_) {
        if (world_.jobs[job].elsewhere > 0 &&
            world_.jobs[job].submit_us + world_.spill_over.after_us == now_) {
          something_happened = true;
        }
      }
      if (may_stop_now()) something_happened = true;
      if (something_happened) world_.policy.preempts ? start_or_interrupt() : start_jobs();
      if (something_happened) scale();
      // A machine that starts at once is there at the same moment.
      if (std::any_of(power_.begin(), power_.end(),
                      [&](const auto& each) { return each.second.ready == now_; })) {
        --now_;
        continue;
      }
      for (const std::uint32_t job : running_) {
        std::int64_t& left =
            state_[job].restart_left > 0 ? state_[job].restart_left : state_[job].left;
        --left;
      }
      if (!skip_to_next_hour()) break;
    }
    // Machines that start or are away come at their times.
    for (; !away_.empty() ||
           std::any_of(power_.begin(), power_.end(), [](auto& each) { return each.second.ready; });
         ++now_) {
      make_ready();
    }
    // Nobody comes any more: those that are idle longest go first.
    for (const NodePool& pool : world_.pools) {
      while (on_of(pool) > pool.least) stop_first(pool, std::numeric_limits<std::int64_t>::max());
    }
    for (const auto& [machine, power] : power_) {
      if (power.is_on) powered_.emplace_back(machine, power.begin, std::nullopt);
    }
    std::sort(powered_.begin(), powered_.end());
    std::sort(runs_.begin(), runs_.end());
    return runs_;
  }
  const std::vector<OraclePower>& powered() const { return powered_; }
};

}  // namespace pennyweight::replay
