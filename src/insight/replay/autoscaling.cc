#include "insight/replay/autoscaling.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/check.h"

namespace pennyweight::replay {
namespace {

void claim_from(FreeMachine& free, const Share& share) {
  free.cpu_milli -= share.cpu_milli;
  free.memory_mib -= share.memory_mib;
  for (std::uint32_t i = 0; i < kGpusPerMachineMax; ++i) {
    if (((share.gpu_mask >> i) & 1) == 0) continue;
    if (free.by_gpu[i] == kMilliPerGpu) --free.whole_gpus;
    free.by_gpu[i] = static_cast<std::uint16_t>(free.by_gpu[i] - share.gpu_milli);
    free.gpu_milli -= share.gpu_milli;
  }
}

}  // namespace

Autoscaling::Autoscaling(const ClusterState& cluster, std::span<const NodePool> pools,
                         std::size_t jobs)
    : cluster_(cluster), whole_(cluster.machines()) {
  if (pools.empty()) return;
  const std::size_t machines = cluster.machines().size();
  pool_of_.assign(machines, 0);
  states_.assign(machines, State::kAlwaysOn);
  jobs_on_.assign(machines, 0);
  kept_for_.assign(machines, 0);
  unclaimed_.resize(machines);
  claimants_.resize(machines);
  span_of_.assign(machines, 0);
  due_us_.assign(machines, 0);
  claims_.resize(jobs);
  for (const NodePool& pool : pools) {
    CHECK(pool.kept_us > 0 && pool.start_us >= 0, "a machine that starts is there for a while");
    CHECK(pool.least <= pool.machines.size(), "what is always on is there");
    const std::size_t number = pools_.size();
    pools_.push_back({.least = pool.least, .start_us = pool.start_us, .kept_us = pool.kept_us});
    for (const std::uint32_t machine : pool.machines) {
      CHECK(states_[machine] == State::kAlwaysOn, "a machine is in one pool");
      pool_of_[machine] = number;
      if (pools_[number].on == pool.least) {
        states_[machine] = State::kOff;
        off_.insert(machine);
        continue;
      }
      ++pools_[number].on;
      states_[machine] = State::kOn;
      span_of_[machine] = spans_.size();
      spans_.push_back({.machine = machine, .begin_us = 0, .ready_us = 0});
      mark_idle(machine, 0);
    }
  }
}

void Autoscaling::start(std::uint32_t machine, std::int64_t now_us) {
  Pool& pool = pool_of(machine);
  ++version_;
  off_.erase(machine);
  starting_.insert(machine);
  states_[machine] = State::kStarting;
  unclaimed_[machine] = whole(machine);
  ++pool.on;
  span_of_[machine] = spans_.size();
  spans_.push_back({.machine = machine, .begin_us = now_us, .ready_us = now_us + pool.start_us});
}

void Autoscaling::claim(std::uint32_t job, const Share& share) {
  claim_from(unclaimed_[share.machine], share);
  claims_[job]->starting.push_back(share);
  claimants_[share.machine].push_back(job);
}

void Autoscaling::keep(std::uint32_t job, std::uint32_t machine) {
  if (states_[machine] != State::kOn) return;  // it is always on
  ++kept_for_[machine];
  claims_[job]->kept.push_back(machine);
}

void Autoscaling::mark_idle(std::uint32_t machine, std::int64_t now_us) {
  Pool& pool = pool_of(machine);
  due_us_[machine] = now_us + pool.kept_us;
  pool.idle.insert(idle_key(due_us_[machine], machine));
}

std::vector<std::uint32_t> Autoscaling::provide(std::uint32_t job, const Request& request,
                                                std::int64_t now_us) {
  if (claims_[job]) return {};
  if (request.gpus > cluster_.largest_machine()) return provide_gang(job, request, now_us);
  const auto machines = cluster_.machines();
  for (const std::uint32_t machine : starting_) {
    if (!fits(unclaimed_[machine], machines[machine], request)) continue;
    claims_[job].emplace();
    claim(job, cluster_.share_of(unclaimed_[machine], machine, request));
    return {};
  }
  for (const std::uint32_t machine : off_) {
    if (!fits(whole(machine), machines[machine], request)) continue;
    start(machine, now_us);
    claims_[job].emplace();
    claim(job, cluster_.share_of(unclaimed_[machine], machine, request));
    return {machine};
  }
  return {};
}

std::vector<std::uint32_t> Autoscaling::provide_gang(std::uint32_t job, const Request& request,
                                                     std::int64_t now_us) {
  const auto machines = cluster_.machines();
  const auto part = [&](std::uint32_t gpus) {
    const auto of = [&](std::uint64_t all) {
      return (all * gpus + request.gpus - 1) / request.gpus;
    };
    return Request{.gpus = gpus,
                   .cpu_milli = of(request.cpu_milli),
                   .memory_mib = of(request.memory_mib),
                   .models = request.models};
  };
  // Machines that are on, that start, that are off; each by number.
  std::array<std::vector<std::uint32_t>, 3> candidates;
  for (std::uint32_t machine = 0; machine < machines.size(); ++machine) {
    if (machines[machine].gpus == 0) continue;
    const State state = states_[machine];
    if (state == State::kAway) continue;
    candidates[state == State::kStarting ? 1 : state == State::kOff ? 2 : 0].push_back(machine);
  }
  const auto free_of = [&](std::uint32_t machine) -> const FreeMachine& {
    switch (states_[machine]) {
      case State::kOff:
        return whole(machine);
      case State::kStarting:
        return unclaimed_[machine];
      case State::kAlwaysOn:
      case State::kOn:
      case State::kAway:
        break;
    }
    return cluster_.free_on(machine);
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;  // machine, GPUs
  std::set<std::uint32_t> taken;
  std::uint32_t missing = request.gpus;
  for (const auto& group : candidates) {
    for (const std::uint32_t machine : group) {
      const std::uint32_t gpus = machines[machine].gpus;
      if (gpus > missing || free_of(machine).whole_gpus < gpus) continue;
      if (!fits(free_of(machine), machines[machine], part(gpus))) continue;
      found.emplace_back(machine, gpus);
      taken.insert(machine);
      missing -= gpus;
      if (missing == 0) break;
    }
    if (missing == 0) break;
  }
  if (missing >= cluster_.largest_machine()) return {};
  for (const auto& group : candidates) {
    for (const std::uint32_t machine : group) {
      if (missing == 0) break;
      if (taken.contains(machine)) continue;
      if (!fits(free_of(machine), machines[machine], part(missing))) continue;
      found.emplace_back(machine, missing);
      missing = 0;
    }
  }
  if (missing > 0) return {};
  claims_[job].emplace().is_gang = true;
  gangs_.insert(job);
  std::vector<std::uint32_t> started;
  for (const auto& [machine, gpus] : found) {
    if (states_[machine] == State::kOff) {
      start(machine, now_us);
      started.push_back(machine);
    }
    if (states_[machine] == State::kStarting) {
      claim(job, cluster_.share_of(unclaimed_[machine], machine, part(gpus)));
    } else {
      keep(job, machine);
    }
  }
  return started;
}

std::vector<std::uint32_t> Autoscaling::provide_all(std::uint32_t job, std::int64_t now_us) {
  if (!claims_[job]) claims_[job].emplace();
  claims_[job]->is_gang = true;
  gangs_.insert(job);
  for (std::uint32_t machine = 0; machine < states_.size(); ++machine) keep(job, machine);
  const std::vector<std::uint32_t> started(off_.begin(), off_.end());
  for (const std::uint32_t machine : started) {
    start(machine, now_us);
    claims_[job]->starting.push_back({.machine = machine});
    claimants_[machine].push_back(job);
  }
  return started;
}

void Autoscaling::machine_is_ready(std::uint32_t machine, std::int64_t now_us) {
  starting_.erase(machine);
  states_[machine] = State::kOn;
  mark_idle(machine, now_us);
  for (const std::uint32_t job : std::exchange(claimants_[machine], {})) {
    if (!claims_[job]) continue;
    if (!claims_[job]->is_gang) {
      claims_[job].reset();
      continue;
    }
    std::erase_if(claims_[job]->starting,
                  [&](const Share& share) { return share.machine == machine; });
    keep(job, machine);
  }
}

void Autoscaling::give_up(std::uint32_t job) {
  ++version_;
  for (const Share& share : claims_[job]->starting) {
    give_back(unclaimed_[share.machine], cluster_.machines()[share.machine], share);
    std::erase(claimants_[share.machine], job);
  }
  for (const std::uint32_t machine : claims_[job]->kept) --kept_for_[machine];
  claims_[job].reset();
  gangs_.erase(job);
}

void Autoscaling::take_back(std::uint32_t machine, std::int64_t now_us) {
  Pool& pool = pool_of(machine);
  switch (states_[machine]) {
    case State::kOff:
      off_.erase(machine);
      break;
    case State::kStarting: {
      const std::vector<std::uint32_t> claimants = claimants_[machine];
      for (const std::uint32_t job : claimants) give_up(job);
      starting_.erase(machine);
      spans_[span_of_[machine]].end_us = now_us;
      --pool.on;
      break;
    }
    case State::kOn: {
      std::vector<std::uint32_t> waiting;
      if (kept_for_[machine] > 0) {
        std::ranges::copy_if(gangs_, std::back_inserter(waiting), [&](std::uint32_t job) {
          return std::ranges::find(claims_[job]->kept, machine) != claims_[job]->kept.end();
        });
      }
      for (const std::uint32_t job : waiting) give_up(job);
      pool.idle.erase(idle_key(due_us_[machine], machine));
      spans_[span_of_[machine]].end_us = now_us;
      --pool.on;
      break;
    }
    case State::kAlwaysOn:
    case State::kAway:
      CHECK(false, "only a machine of a pool that is not away is taken back");
  }
  states_[machine] = State::kAway;
}

void Autoscaling::machine_is_back(std::uint32_t machine) {
  states_[machine] = State::kOff;
  off_.insert(machine);
}

std::vector<std::uint32_t> Autoscaling::keep_least(std::int64_t now_us) {
  std::vector<std::uint32_t> started;
  for (std::size_t number = 0; number < pools_.size(); ++number) {
    while (pools_[number].on < pools_[number].least) {
      const auto first = std::ranges::find_if(
          off_, [&](std::uint32_t machine) { return pool_of_[machine] == number; });
      if (first == off_.end()) break;
      const std::uint32_t machine = *first;
      start(machine, now_us);
      started.push_back(machine);
    }
  }
  return started;
}

void Autoscaling::job_started(std::uint32_t job, const Shares& shares) {
  if (!is_used()) return;
  if (claims_[job]) give_up(job);
  for (const Share& share : shares) {
    if (states_[share.machine] != State::kOn) continue;
    if (jobs_on_[share.machine]++ > 0) continue;
    pool_of(share.machine).idle.erase(idle_key(due_us_[share.machine], share.machine));
  }
}

void Autoscaling::job_stopped(const Shares& shares, std::int64_t now_us) {
  if (!is_used()) return;
  for (const Share& share : shares) {
    if (states_[share.machine] != State::kOn) continue;
    if (--jobs_on_[share.machine] == 0) mark_idle(share.machine, now_us);
  }
}

std::optional<std::int64_t> Autoscaling::next_stop_us(std::int64_t now_us) const {
  std::optional<std::int64_t> next;
  for (const Pool& pool : pools_) {
    if (pool.on <= pool.least) continue;
    for (auto at = pool.idle.lower_bound({now_us + 1, 0}); at != pool.idle.end(); ++at) {
      if (next && *next <= at->first) break;
      if (kept_for_[~at->second] > 0) continue;
      next = at->first;
      break;
    }
  }
  return next;
}

std::vector<std::uint32_t> Autoscaling::stop_idle(std::int64_t now_us) {
  std::vector<std::uint32_t> stopped;
  for (Pool& pool : pools_) {
    for (auto at = pool.idle.begin();
         at != pool.idle.end() && at->first <= now_us && pool.on > pool.least;) {
      const std::uint32_t machine = ~at->second;
      if (kept_for_[machine] > 0) {
        ++at;
        continue;
      }
      at = pool.idle.erase(at);
      --pool.on;
      states_[machine] = State::kOff;
      off_.insert(machine);
      spans_[span_of_[machine]].end_us = now_us;
      stopped.push_back(machine);
    }
  }
  return stopped;
}

void Autoscaling::end_spans() {
  for (Pool& pool : pools_) {
    for (const auto& [due_us, complement] : pool.idle) {
      if (pool.on <= pool.least) break;
      --pool.on;
      spans_[span_of_[~complement]].end_us = due_us;
    }
  }
}

}  // namespace pennyweight::replay
