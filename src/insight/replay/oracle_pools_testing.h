// Machines of pools, which start while jobs wait for them and stop when nobody holds anything of
// them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "insight/replay/oracle_teams_testing.h"

namespace pennyweight::replay {

class OraclePools : public OracleTeams {
 protected:
  using OracleTeams::OracleTeams;

  bool is_off(std::uint32_t machine) const {
    const auto power = power_.find(machine);
    return power != power_.end() && !power->second.is_on && !power->second.ready &&
           !away_.contains(machine);
  }
  bool is_starting(std::uint32_t machine) const {
    const auto power = power_.find(machine);
    return power != power_.end() && power->second.ready.has_value();
  }
  // Free machines as they will be: nobody holds anything of those that are off, and of those that
  // start only what was promised is taken.
  State promised() const {
    State state = free_;
    for (const auto& [machine, power] : power_) {
      if (!power.is_on && !away_.contains(machine)) change(state, {all_of(machine)}, false);
    }
    for (const auto& [job, wish] : wishes_) change(state, wish.starting, true);
    return state;
  }

  // Machines that start or come back now, by number; one that comes back may make another start.
  bool make_ready() {
    for (bool is_any = false;; is_any = true) {
      std::set<std::uint32_t> come;
      for (const auto& [machine, power] : power_) {
        if (power.ready == now_) come.insert(machine);
      }
      for (const auto& [machine, until] : away_) {
        if (until == now_) come.insert(machine);
      }
      if (come.empty()) return is_any;
      const std::uint32_t machine = *come.begin();
      if (away_.erase(machine) > 0) {
        if (!power_.contains(machine)) change(free_, {all_of(machine)}, false);
        keep_least();
        continue;
      }
      Power& power = power_[machine];
      power.ready.reset();
      power.is_on = true;
      power.idle_since = now_;
      change(free_, {all_of(machine)}, false);
      for (auto& [job, wish] : wishes_) {
        const auto is_here = [&](const Share& share) { return share.machine == machine; };
        if (std::erase_if(wish.starting, is_here) > 0 && wish.is_gang) wish.on.insert(machine);
      }
      std::erase_if(wishes_, [](const auto& each) {
        return !each.second.is_gang && each.second.starting.empty();
      });
    }
  }

  // Where fewer than the least of a pool are on, the first ones that are off start.
  void keep_least() {
    for (const NodePool& pool : world_.pools) {
      for (const std::uint32_t machine : pool.machines) {
        if (on_of(pool) < pool.least && is_off(machine)) start_machine(machine);
      }
    }
  }

  std::uint32_t on_of(const NodePool& pool) const {
    return static_cast<std::uint32_t>(std::count_if(
        pool.machines.begin(), pool.machines.end(),
        [&](std::uint32_t machine) { return !is_off(machine) && !away_.contains(machine); }));
  }
  // Those that may be stopped now or later, and when.
  std::vector<std::pair<std::int64_t, std::uint32_t>> idle_of(const NodePool& pool) const {
    std::vector<std::pair<std::int64_t, std::uint32_t>> idle;
    for (const std::uint32_t machine : pool.machines) {
      const Power& power = power_.at(machine);
      const bool is_wanted = std::any_of(wishes_.begin(), wishes_.end(), [&](const auto& each) {
        return each.second.on.contains(machine);
      });
      if (!power.is_on || is_wanted || holds_any(machine)) continue;
      idle.emplace_back(power.idle_since + pool.kept_us, ~machine);
    }
    std::sort(idle.begin(), idle.end());
    return idle;
  }
  bool may_stop_now() const {
    return std::any_of(world_.pools.begin(), world_.pools.end(), [&](const NodePool& pool) {
      const auto idle = idle_of(pool);
      return on_of(pool) > pool.least &&
             std::any_of(idle.begin(), idle.end(),
                         [&](const auto& each) { return each.first == now_; });
    });
  }
  // Whether one was there that could be stopped by `until`.
  bool stop_first(const NodePool& pool, std::int64_t until) {
    const auto idle = idle_of(pool);
    if (idle.empty() || idle.front().first > until) return false;
    const std::uint32_t machine = ~idle.front().second;
    power_[machine].is_on = false;
    const bool is_over = until > now_;
    powered_.emplace_back(machine, power_[machine].begin, is_over ? idle.front().first : now_);
    change(free_, {all_of(machine)}, true);
    reservation_.reset();
    return true;
  }
  void scale() {
    const bool is_coming =
        !away_.empty() || std::any_of(power_.begin(), power_.end(),
                                      [](const auto& each) { return each.second.ready; });
    if (first_unfit_ && running_.empty() && !is_coming) {
      Wish& wish = wishes_[*first_unfit_];
      wish.is_gang = true;
      for (const auto& [machine, power] : power_) {
        if (power.is_on) wish.on.insert(machine);
        if (power.is_on) continue;
        start_machine(machine);
        wish.starting.push_back({.machine = machine});
      }
    }
    for (const NodePool& pool : world_.pools) {
      while (on_of(pool) > pool.least && stop_first(pool, now_)) {
      }
    }
  }
  void start_machine(std::uint32_t machine) {
    power_[machine].begin = now_;
    power_[machine].ready = now_ + power_[machine].pool->start_us;
    reservation_.reset();
  }

  void ask_for_machines(std::uint32_t job) {
    if (!first_unfit_) first_unfit_ = job;
    if (wishes_.contains(job)) return;
    const Request& request = world_.jobs[job].request;
    std::uint32_t largest = 0;
    for (const Machine& machine : world_.machines) largest = std::max(largest, machine.gpus);
    State state = promised();
    const auto number = static_cast<std::uint32_t>(world_.machines.size());
    if (request.gpus <= largest) {
      for (const bool starts : {true, false}) {
        for (std::uint32_t machine = 0; machine < number; ++machine) {
          if (starts ? !is_starting(machine) : !is_off(machine)) continue;
          const auto share = on_machine(state, machine, request);
          if (!share) continue;
          if (!starts) start_machine(machine);
          wishes_[job].starting = {*share};
          return;
        }
      }
      return;
    }
    // On, starting, off.
    std::vector<std::uint32_t> order;
    for (int kind = 0; kind < 3; ++kind) {
      for (std::uint32_t machine = 0; machine < number; ++machine) {
        if ((is_off(machine) ? 2 : is_starting(machine) ? 1 : 0) == kind) order.push_back(machine);
      }
    }
    const auto part = [&](std::uint32_t gpus) {
      const auto of = [&](std::uint64_t all) {
        return (all * gpus + request.gpus - 1) / request.gpus;
      };
      return Request{.gpus = gpus,
                     .cpu_milli = of(request.cpu_milli),
                     .memory_mib = of(request.memory_mib),
                     .models = request.models};
    };
    Shares found;
    std::uint32_t missing = request.gpus;
    const auto take = [&](std::uint32_t machine, std::uint32_t gpus) {
      if (gpus == 0) return;
      const auto share = on_machine(state, machine, part(gpus));
      if (!share) return;
      found.push_back(*share);
      change(state, {*share}, true);
      missing -= gpus;
    };
    for (const std::uint32_t machine : order) {
      const std::uint32_t gpus = world_.machines[machine].gpus;
      if (gpus <= missing) take(machine, gpus);
    }
    if (missing >= largest) return;
    for (const std::uint32_t machine : order) {
      const auto is_here = [&](const Share& share) { return share.machine == machine; };
      if (missing > 0 && std::none_of(found.begin(), found.end(), is_here)) take(machine, missing);
    }
    if (missing > 0) return;
    Wish& wish = wishes_[job];
    wish.is_gang = true;
    for (const Share& share : found) {
      if (is_off(share.machine)) start_machine(share.machine);
      if (is_starting(share.machine)) {
        wish.starting.push_back(share);
      } else {
        wish.on.insert(share.machine);
      }
    }
  }
};

}  // namespace pennyweight::replay
