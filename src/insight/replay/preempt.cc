#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/int128.h"
#include "insight/replay/reservation.h"
#include "insight/replay/simulation.h"
#include "insight/replay/waiting_queue.h"

namespace pennyweight::replay {
namespace {

// A job that comes first in the queue and doesn't fit interrupts jobs that come after it, the last
// of them first, and no more of them than it needs. Nobody else is moved.
class Preempt : public Simulation {
 public:
  Preempt(std::span<const Job> jobs, std::span<const Machine> machines,
          const ReplayOptions& options)
      : Simulation(jobs, machines, options),
        left_us_(jobs.size()),
        restart_left_us_(jobs.size(), 0),
        counted_to_us_(jobs.size(), 0) {
    for (std::size_t i = 0; i < jobs.size(); ++i) left_us_[i] = jobs[i].work_us;
  }

  Replay run() {
    while (arrived_ < arrivals_.size() || !ends_.empty()) {
      if (is_stopped()) return take_result();
      const std::int64_t next_end = ends_.empty() ? kNever : ends_.begin()->end_us;
      advance_to(std::min(next_arrival_us(), next_end));
      while (!ends_.empty() && ends_.begin()->end_us == now_us_) finish(ends_.begin()->job);
      for (; next_arrival_us() == now_us_; ++arrived_) add(arrivals_[arrived_]);
      start_jobs();
    }
    CHECK(waiting_.empty(), "a job that the empty cluster can hold runs in the end");
    return take_result();
  }

 private:
  // Brings a running job's progress up to now.
  void count_progress(std::uint32_t job) {
    const std::int64_t span = now_us_ - counted_to_us_[job];
    const std::int64_t restarting = std::min(span, restart_left_us_[job]);
    restart_left_us_[job] -= restarting;
    left_us_[job] -= span - restarting;
    counted_to_us_[job] = now_us_;
    replay_.restart_milli_gpu_us +=
        static_cast<Int128>(restarting) * static_cast<Int128>(jobs_[job].request.milli_gpus());
  }

  QueueKey key_of(std::uint32_t job) const {
    const std::int64_t done = jobs_[job].work_us - left_us_[job];
    return queue_key(policy_.order, jobs_[job], job,
                     std::max<std::int64_t>(0, estimate_of(jobs_[job]) - done));
  }

  void add(std::uint32_t job) { waiting_.insert(key_of(job)); }

  void leave(std::uint32_t job) {
    count_progress(job);
    ends_.erase({end_of(job), job});
    placement_.give_back(held_[job]);
  }
  std::int64_t end_of(std::uint32_t job) const {
    return counted_to_us_[job] + restart_left_us_[job] + left_us_[job];
  }

  void finish(std::uint32_t job) {
    leave(job);
    record_end(job);
    held_[job].clear();
  }

  // REQUIRES: shares are taken.
  void start(std::uint32_t job, Shares shares) {
    const bool resumes = replay_.jobs[job].first_start_us.has_value();
    held_[job] = std::move(shares);
    record_start(job);
    counted_to_us_[job] = now_us_;
    restarts_us_[job] = resumes ? jobs_[job].restart_us : 0;
    restart_left_us_[job] = restarts_us_[job];
    ends_.insert({end_of(job), job});
  }

  // REQUIRES: its shares are given back.
  void interrupt(std::uint32_t job) {
    count_progress(job);
    record_stop(job);
    held_[job].clear();
    ++replay_.jobs[job].interruptions;
    add(job);
  }

  void start_jobs() {
    std::uint32_t blocked = 0;
    bool may_preempt = true;
    // Whoever is interrupted comes after the job that interrupts it, so the walk meets it later.
    for (auto at = waiting_.begin(); at != waiting_.end() && blocked <= policy_.depth;) {
      const QueueKey key = *at;
      std::optional<Shares> shares = placement_.place(jobs_[key.job].request);
      if (!shares && may_preempt) {
        // Jobs behind one that could interrupt nobody come after it, and can't either, unless they
        // need less; only the first few are tried.
        shares = preempt_for(key);
        may_preempt = shares.has_value() || blocked < kPreemptionsTried;
      }
      if (!shares) {
        ++blocked;
        ++at;
        continue;
      }
      waiting_.erase(at);
      start(key.job, std::move(*shares));
      at = waiting_.upper_bound(key);
    }
  }

  // Takes the shares of running jobs that come after `key` until its job fits, the last first.
  std::optional<Shares> preempt_for(const QueueKey& key) {
    std::vector<QueueKey> victims;
    for (const ExpectedEnd& end : ends_) {
      count_progress(end.job);  // which moves no end, so that ends_ stays in order
      const QueueKey other = key_of(end.job);
      if (key < other) victims.push_back(other);
    }
    std::sort(victims.begin(), victims.end(), std::greater<>());
    std::optional<Shares> shares;
    std::size_t taken = 0;
    while (taken < victims.size() && !shares) {
      placement_.give_back(held_[victims[taken].job]);
      ++taken;
      shares = placement_.place(jobs_[key.job].request);
    }
    if (!shares) {
      for (std::size_t i = 0; i < taken; ++i) placement_.take(held_[victims[i].job]);
      return shares;
    }
    // Who turns out not to be in the way goes on as if nothing had been.
    for (std::size_t i = taken; i-- > 0;) {
      const std::uint32_t job = victims[i].job;
      if (placement_.is_free(held_[job])) {
        placement_.take(held_[job]);
        continue;
      }
      ends_.erase({end_of(job), job});
      interrupt(job);
    }
    return shares;
  }

  std::vector<std::int64_t> left_us_;          // of each job's work, at counted_to_us_
  std::vector<std::int64_t> restart_left_us_;  // until it does work again, likewise
  std::vector<std::int64_t> counted_to_us_;
  std::set<ExpectedEnd> ends_;
  std::set<QueueKey> waiting_;
};

}  // namespace

Replay run_preempting(std::span<const Job> jobs, std::span<const Machine> machines,
                      const ReplayOptions& options) {
  return Preempt(jobs, machines, options).run();
}

}  // namespace pennyweight::replay
