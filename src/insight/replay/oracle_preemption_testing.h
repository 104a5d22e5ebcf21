// Who starts where jobs interrupt those that come after them.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "insight/replay/oracle_queue_testing.h"

namespace pennyweight::replay {

class OraclePreemption : public OracleQueue {
 protected:
  using OracleQueue::OracleQueue;

  void start_or_interrupt() {
    std::optional<std::uint32_t> last;
    while (true) {
      std::optional<std::uint32_t> job;
      for (const std::uint32_t other : waiting_) {
        if (last && key(other) <= key(*last)) continue;
        if (!job || key(other) < key(*job)) job = other;
      }
      if (!job) return;
      last = job;
      if (const auto shares = place(free_, world_.jobs[*job].request)) {
        start(*job, *shares);
      } else {
        interrupt_for(*job);
      }
    }
  }
  void interrupt_for(std::uint32_t job) {
    std::vector<std::uint32_t> victims;
    for (const std::uint32_t other : running_) {
      if (key(job) < key(other)) victims.push_back(other);
    }
    std::sort(victims.begin(), victims.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(b) < key(a); });
    State state = free_;
    for (std::size_t taken = 0; taken < victims.size(); ++taken) {
      change(state, state_[victims[taken]].shares, false);
      const auto shares = place(state, world_.jobs[job].request);
      if (!shares) continue;
      free_ = state;
      // The last that was taken from is the first that may stay.
      for (std::size_t i = taken + 1; i-- > 0;) {
        const Shares& old = state_[victims[i]].shares;
        const bool stays = std::all_of(old.begin(), old.end(), [&](const Share& share) {
          return has_room(free_[share.machine], share);
        });
        if (stays) {
          change(free_, old, true);
        } else {
          record(victims[i]);
          waiting_.insert(victims[i]);
        }
      }
      start(job, *shares);
      return;
    }
  }
};

}  // namespace pennyweight::replay
