// A job's turn, by its estimate and what it has done, and what it holds from its start to its stop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "insight/replay/oracle_room_testing.h"

namespace pennyweight::replay {

class OracleJobs : public OracleRoom {
 protected:
  using OracleRoom::OracleRoom;

  std::int64_t estimate(std::uint32_t job) const {
    const Job& it = world_.jobs[job];
    return it.estimate_us > 0 ? it.estimate_us : it.work_us;
  }
  // When it will end, as far as the scheduler knows, if it starts now.
  std::int64_t expected_end(std::uint32_t job) const {
    const std::int64_t done = world_.jobs[job].work_us - state_[job].left;
    return now_ + (state_[job].has_run ? world_.jobs[job].restart_us : 0) +
           std::max<std::int64_t>(1, estimate(job) - done);
  }
  // Lower goes first.
  std::tuple<std::int64_t, std::int64_t, std::uint32_t> key(std::uint32_t job) const {
    const Job& it = world_.jobs[job];
    const std::int64_t done = it.work_us - state_[job].left;
    const std::int64_t left = std::max<std::int64_t>(0, estimate(job) - done);
    std::int64_t first = 0;
    const QueueOrder order = world_.policy.order;
    if (order == QueueOrder::kPriority) first = -it.priority;
    if (order == QueueOrder::kShortestJob) first = estimate(job);
    if (order == QueueOrder::kShortestRemaining) first = left;
    if (order == QueueOrder::kShortestRemainingWork) {
      first = left * static_cast<std::int64_t>(it.request.milli_gpus());
    }
    return {first, it.submit_us, job};
  }

  bool holds_any(std::uint32_t machine) const {
    return std::any_of(running_.begin(), running_.end(), [&](std::uint32_t job) {
      const Shares& shares = state_[job].shares;
      return std::any_of(shares.begin(), shares.end(),
                         [&](const Share& share) { return share.machine == machine; });
    });
  }

  void start(std::uint32_t job, const Shares& shares) {
    Running& state = state_[job];
    state.expected_end = expected_end(job);
    state.restart = state.has_run ? world_.jobs[job].restart_us : 0;
    state.restart_left = state.restart;
    state.has_run = true;
    state.begin = now_;
    state.shares = shares;
    waiting_.erase(job);
    running_.insert(job);
    wishes_.erase(job);
  }

  // REQUIRES: what it holds is given back, or will be by the caller.
  void record(std::uint32_t job) {
    const Running& state = state_[job];
    running_.erase(job);
    if (state.begin == now_) return;
    std::vector<OracleShare> shares;
    for (const Share& share : state.shares) {
      shares.emplace_back(share.machine, share.gpu_mask, share.gpu_milli);
    }
    runs_.emplace_back(now_, job, state.begin, std::min(now_ - state.begin, state.restart), shares);
  }
  void stop(std::uint32_t job) {
    change(free_, state_[job].shares, false);
    record(job);
    for (const Share& share : state_[job].shares) {
      const auto power = power_.find(share.machine);
      if (power != power_.end() && !holds_any(share.machine)) power->second.idle_since = now_;
    }
  }
};

}  // namespace pennyweight::replay
