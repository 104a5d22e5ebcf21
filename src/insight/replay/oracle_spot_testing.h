// Machines that are taken back, and jobs that go on from their last checkpoint.
#pragma once

#include <algorithm>
#include <set>

#include "insight/replay/oracle_pools_testing.h"

namespace pennyweight::replay {

class OracleSpot : public OraclePools {
 protected:
  using OraclePools::OraclePools;

  bool take_back_now() {
    bool is_any = false;
    while (!reclaims_.empty() && reclaims_.begin()->at_us == now_) {
      const Reclaim reclaim = *reclaims_.begin();
      reclaims_.erase(reclaims_.begin());
      is_any = true;
      if (!is_off(reclaim.machine) || !reclaim.if_on) take_back(reclaim);
    }
    return is_any;
  }
  void take_back(const Reclaim& reclaim) {
    const std::uint32_t machine = reclaim.machine;
    for (const std::uint32_t job : std::set<std::uint32_t>(running_)) {
      const Shares& shares = state_[job].shares;
      if (std::none_of(shares.begin(), shares.end(),
                       [&](const Share& share) { return share.machine == machine; })) {
        continue;
      }
      stop(job);
      const std::int64_t every = world_.spot.checkpoint_every_us;
      const std::int64_t done = world_.jobs[job].work_us - state_[job].left;
      state_[job].left = world_.jobs[job].work_us - (every == 0 ? 0 : done / every * every);
      waiting_.insert(job);
    }
    reservation_.reset();
    const auto power = power_.find(machine);
    if (power == power_.end()) {
      if (reclaim.away_us > 0) change(free_, {all_of(machine)}, true);
    } else if (!is_off(machine)) {
      std::erase_if(wishes_, [&](const auto& each) {
        const Shares& starting = each.second.starting;
        return each.second.on.contains(machine) ||
               std::any_of(starting.begin(), starting.end(),
                           [&](const Share& share) { return share.machine == machine; });
      });
      powered_.emplace_back(machine, power->second.begin, now_);
      if (power->second.is_on) change(free_, {all_of(machine)}, true);
      power->second.is_on = false;
      power->second.ready.reset();
    }
    if (reclaim.away_us > 0) away_[machine] = now_ + reclaim.away_us;
    keep_least();
  }
};

}  // namespace pennyweight::replay
