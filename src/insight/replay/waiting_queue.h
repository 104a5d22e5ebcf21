// WaitingQueue: the jobs that have arrived and don't run, in the order in which they are tried.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "core/int128.h"
#include "insight/replay/job.h"
#include "insight/replay/scheduling.h"
#include "insight/replay/team_usage.h"

namespace pennyweight::replay {

// Where a job stands: lower goes first.
struct QueueKey {
  Int128 key;
  std::int64_t submit_us;
  std::uint32_t job;
  auto operator<=>(const QueueKey&) const = default;
};
// REQUIRES: left_us is what remains of the job's estimate.
QueueKey queue_key(QueueOrder order, const Job& job, std::uint32_t index, std::int64_t left_us);
std::int64_t estimate_of(const Job& job);

class WaitingQueue {
 public:
  // REQUIRES: the arguments outlive it.
  WaitingQueue(std::span<const Job> jobs, QueueOrder order, const TeamUsage& usage);

  // left_us: what remains of its estimate.
  void add(std::uint32_t job, std::int64_t left_us);
  void remove(std::uint32_t job);
  std::size_t size() const { return size_; }

  // Calls try_job(job) in order until it returns false or every job was tried; try_job may remove
  // the job that it is called with and no other. For the fair orders the next team is chosen anew
  // after each call, and a team whose job stayed in the queue is passed over until the next visit.
  template <class TryJob>
  void visit(TryJob try_job) {
    if (is_fair_) {
      std::vector<bool> passed(queues_.size(), false);
      for (std::uint32_t team = next_team(passed); team < queues_.size();
           team = next_team(passed)) {
        const std::uint32_t job = queues_[team].begin()->job;
        const std::size_t before = size_;
        if (!try_job(job)) return;
        if (size_ == before) passed[team] = true;
      }
      return;
    }
    std::set<QueueKey>& queue = queues_.front();
    for (auto at = queue.begin(); at != queue.end();) {
      const std::uint32_t job = (at++)->job;
      if (!try_job(job)) return;
    }
  }

 private:
  std::uint32_t next_team(const std::vector<bool>& passed) const;  // team count: none is left
  std::set<QueueKey>& queue_of(std::uint32_t job);
  QueueKey key_of(std::uint32_t job) const;

  std::span<const Job> jobs_;
  QueueOrder order_;
  const TeamUsage& usage_;
  bool is_fair_;
  std::vector<std::set<QueueKey>> queues_;  // of each team, or one
  std::vector<std::int64_t> left_us_;       // of each job that waits
  std::size_t size_ = 0;
};

}  // namespace pennyweight::replay
