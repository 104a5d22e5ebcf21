// SmallOracle: what a replay must do, as one would work it out on paper.
//
// It goes from one microsecond to the next and looks at every job and every GPU each time. A job
// holds whole GPUs of one machine from its start to its end. What is more than that (CPUs and
// memory, several machines, fractions, fair queues, quotas, preemption, spot, pools) has its rules
// in the files beside this one, oracle_*_testing.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "core/check.h"
#include "insight/replay/simulate.h"

namespace pennyweight::replay {

class SmallOracle {
 public:
  // When it ended, which job, when it began, on which machine, on which of its GPUs (bits).
  using Run = std::tuple<std::int64_t, std::uint32_t, std::int64_t, std::uint32_t, std::uint32_t>;

  SmallOracle(const std::vector<Job>& jobs, const std::vector<Machine>& machines,
              const Scheduling& policy)
      : jobs_(jobs), policy_(policy), held_(jobs.size()) {
    for (const Machine& machine : machines) free_.push_back((1u << machine.gpus) - 1);
    for (std::uint32_t job = 0; job < jobs.size(); ++job) {
      if (find(free_, job)) to_come_.insert(job);  // what the empty fleet can't hold never comes
    }
  }

  // At each moment jobs end, then jobs come, and then, if any did, jobs start.
  std::vector<Run> run() {
    for (now_ = 0; !to_come_.empty() || !waiting_.empty() || !running_.empty(); ++now_) {
      bool is_event = false;
      for (const std::uint32_t job : std::set<std::uint32_t>(running_)) {
        if (held_[job].end != now_) continue;
        is_event = true;
        end(job);
      }
      for (const std::uint32_t job : std::set<std::uint32_t>(to_come_)) {
        if (jobs_[job].submit_us != now_) continue;
        is_event = true;
        to_come_.erase(job);
        waiting_.insert(job);
      }
      if (is_event) start_jobs();
    }
    std::sort(runs_.begin(), runs_.end());
    return runs_;
  }

 private:
  struct Held {
    std::uint32_t machine, gpus;  // bits
    std::int64_t begin = 0, end = 0, expected_end = 0;
  };
  // What the first job that doesn't fit will get: when, where, and which GPUs are free beside it.
  struct Promise {
    std::uint32_t job;
    std::int64_t begin;
    std::uint32_t machine, beside;
  };

  // How long the scheduler believes that a job runs.
  std::int64_t believed(std::uint32_t job) const {
    return jobs_[job].estimate_us > 0 ? jobs_[job].estimate_us : jobs_[job].work_us;
  }
  // Who goes first: the lowest. Ties go to whoever came first, then to whoever was given first.
  std::tuple<std::int64_t, std::int64_t, std::uint32_t> turn(std::uint32_t job) const {
    const bool by_priority = policy_.order == QueueOrder::kPriority;
    const bool by_length = policy_.order == QueueOrder::kShortestJob;
    const std::int64_t first = by_priority ? -jobs_[job].priority : by_length ? believed(job) : 0;
    return {first, jobs_[job].submit_us, job};
  }

  void start_jobs() {
    std::set<decltype(turn(0))> queue;
    for (const std::uint32_t job : waiting_) queue.insert(turn(job));
    std::optional<std::uint32_t> first_blocked;
    for (const auto& [first, submitted, job] : queue) {
      const auto found = find(free_, job);
      if (!found && policy_.when_blocked == WhenBlocked::kWait) return;
      if (!found && !first_blocked) first_blocked = job;
      if (!found) continue;
      const bool backfills = first_blocked && policy_.when_blocked == WhenBlocked::kBackfill;
      if (!backfills || may_overtake(*first_blocked, job, *found)) start(job, *found);
    }
  }
  // Whoever ends before the promise begins, or leaves it its GPUs. A promise stands until its job
  // starts, or some job ends at another time than was believed.
  bool may_overtake(std::uint32_t first, std::uint32_t job, const Held& found) {
    if (!promise_ || promise_->job != first) promise_ = promise(first);
    if (now_ + believed(job) <= promise_->begin || found.machine != promise_->machine) return true;
    if ((promise_->beside & found.gpus) != found.gpus) return false;
    promise_->beside &= ~found.gpus;
    return true;
  }
  // Jobs end as is believed, one after the other, until there is room. A job that runs over its
  // time ends at any moment.
  Promise promise(std::uint32_t first) const {
    std::set<std::pair<std::int64_t, std::uint32_t>> ends;
    for (const std::uint32_t job : running_) ends.emplace(held_[job].expected_end, job);
    std::vector<std::uint32_t> free = free_;
    for (const auto& [at, job] : ends) {
      free[held_[job].machine] |= held_[job].gpus;
      const auto found = find(free, first);
      if (!found) continue;
      return {first, std::max(now_, at), found->machine, free[found->machine] & ~found->gpus};
    }
    CHECK(false, "what the empty fleet holds has room once everybody has gone");
  }

  void start(std::uint32_t job, const Held& found) {
    free_[found.machine] &= ~found.gpus;
    held_[job] = {found.machine, found.gpus, now_, now_ + jobs_[job].work_us, now_ + believed(job)};
    waiting_.erase(job);
    running_.insert(job);
  }
  void end(std::uint32_t job) {
    const Held& held = held_[job];
    if (held.end != held.expected_end) promise_.reset();
    free_[held.machine] |= held.gpus;
    runs_.emplace_back(now_, job, held.begin, held.machine, held.gpus);
    running_.erase(job);
  }

  // The machine that the placement chooses among those with room, and its lowest free GPUs.
  std::optional<Held> find(const std::vector<std::uint32_t>& free, std::uint32_t job) const {
    const auto wanted = static_cast<int>(jobs_[job].request.gpus);
    std::optional<std::uint32_t> best;
    for (std::uint32_t machine = 0; machine < free.size(); ++machine) {
      const int has = std::popcount(free[machine]);
      if (has < wanted) continue;
      const int best_has = best ? std::popcount(free[*best]) : 0;
      const bool is_better = (policy_.placement == PlacementRule::kBestFit && has < best_has) ||
                             (policy_.placement == PlacementRule::kWorstFit && has > best_has);
      if (!best || is_better) best = machine;
    }
    if (!best) return std::nullopt;
    std::uint32_t left = free[*best];
    for (int i = 0; i < wanted; ++i) left &= left - 1;  // without its lowest bit
    return Held{.machine = *best, .gpus = free[*best] & ~left};
  }

  const std::vector<Job>& jobs_;
  const Scheduling& policy_;
  std::vector<std::uint32_t> free_;  // GPUs of each machine, as bits
  std::vector<Held> held_;           // of each job that runs
  std::set<std::uint32_t> to_come_, waiting_, running_;
  std::optional<Promise> promise_;
  std::vector<Run> runs_;
  std::int64_t now_ = 0;
};

}  // namespace pennyweight::replay
