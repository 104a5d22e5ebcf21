#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/int128.h"
#include "insight/replay/simulation.h"
#include "insight/replay/waiting_queue.h"

namespace pennyweight::replay {
namespace {

// Every arrival and end plans all jobs anew, from an empty cluster.
class PlanAnew : public Simulation {
 public:
  PlanAnew(std::span<const Job> jobs, std::span<const Machine> machines,
           const ReplayOptions& options)
      : Simulation(jobs, machines, options),
        left_us_(jobs.size()),
        is_held_(jobs.size(), false),
        runs_(jobs.size(), false) {
    for (std::size_t i = 0; i < jobs.size(); ++i) left_us_[i] = jobs[i].work_us;
  }

  Replay run() {
    while (arrived_ < arrivals_.size() || !running_.empty()) {
      if (is_stopped()) return take_result();
      std::int64_t next = next_arrival_us();
      for (const std::uint32_t job : running_) {
        next = std::min(next, now_us_ + left_us_[job]);
      }
      const std::int64_t span = next - now_us_;
      for (const std::uint32_t job : running_) progress(job, span);
      advance_to(next);
      end_finished();
      for (; next_arrival_us() == now_us_; ++arrived_) insert(waiting_, arrivals_[arrived_]);
      plan();
    }
    CHECK(waiting_.empty(), "a job that the empty cluster can hold runs in the end");
    return take_result();
  }

 private:
  // How a span between two events was used. REQUIRES: the job doesn't end before it does.
  void progress(std::uint32_t job, std::int64_t span) {
    const std::int64_t restarting =
        span < left_us_[job] ? std::min(span, jobs_[job].restart_us) : 0;
    left_us_[job] -= span - restarting;
    replay_.restart_milli_gpu_us +=
        static_cast<Int128>(restarting) * static_cast<Int128>(jobs_[job].request.milli_gpus());
  }

  QueueKey key_of(std::uint32_t job) const {
    // What is left of the estimate, as far as the work is done.
    const std::int64_t done = jobs_[job].work_us - left_us_[job];
    const std::int64_t left = std::max<std::int64_t>(0, estimate_of(jobs_[job]) - done);
    return queue_key(policy_.order, jobs_[job], job, left);
  }
  void insert(std::set<QueueKey>& queue, std::uint32_t job) { queue.insert(key_of(job)); }

  void end_finished() {
    std::erase_if(running_, [&](std::uint32_t job) {
      if (left_us_[job] > 0) return false;
      record_end(job);
      placement_.give_back(held_[job]);
      held_[job].clear();
      is_held_[job] = false;
      return true;
    });
  }

  void plan() {
    // Waiting jobs keep their keys while they wait; those that ran get theirs anew.
    std::set<QueueKey> queue;
    for (const std::uint32_t job : running_) insert(queue, job);
    const std::vector<std::uint32_t> before = std::move(running_);
    running_.clear();
    placement_.clear();
    std::vector<std::uint32_t> started;
    auto ran = queue.begin();
    auto waits = waiting_.begin();
    while (ran != queue.end() || waits != waiting_.end()) {
      if (cluster_.free_milli_gpus() == 0 && !has_requests_without_gpu_) break;
      const bool takes_waiting = ran == queue.end() || (waits != waiting_.end() && *waits < *ran);
      const std::uint32_t job = takes_waiting ? waits->job : ran->job;
      std::optional<Shares> shares = placement_.place(jobs_[job].request);
      if (shares) {
        continue_or_start(job, std::move(*shares));
        running_.push_back(job);
      }
      if (!takes_waiting) {
        ++ran;
      } else if (shares) {
        waits = waiting_.erase(waits);
      } else {
        ++waits;
      }
    }
    for (const std::uint32_t job : running_) runs_[job] = true;
    for (const std::uint32_t job : before) {
      if (!runs_[job]) interrupt(job);
    }
    for (const std::uint32_t job : running_) runs_[job] = false;
  }

  // A job that is moved holds other machines from now on; that is no interruption here.
  void continue_or_start(std::uint32_t job, Shares shares) {
    if (is_held_[job] && held_[job] == shares) return;
    if (is_held_[job]) record_stop(job);
    held_[job] = std::move(shares);
    record_start(job);
    is_held_[job] = true;
  }

  void interrupt(std::uint32_t job) {
    record_stop(job);
    held_[job].clear();
    is_held_[job] = false;
    ++replay_.jobs[job].interruptions;
    insert(waiting_, job);
  }

  std::vector<std::int64_t> left_us_;  // of each job's work
  std::vector<bool> is_held_;
  std::vector<bool> runs_;
  std::vector<std::uint32_t> running_;
  std::set<QueueKey> waiting_;
};

}  // namespace

Replay run_planned_anew(std::span<const Job> jobs, std::span<const Machine> machines,
                        const ReplayOptions& options) {
  return PlanAnew(jobs, machines, options).run();
}

}  // namespace pennyweight::replay
