// WaitingQueue: the jobs that have arrived and don't run, in the order in which they are tried.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
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
  // `is_restricted`: teams may not start whatever fits, so that many jobs may wait that are not
  // even tried. REQUIRES: the arguments outlive it.
  WaitingQueue(std::span<const Job> jobs, QueueOrder order, const TeamUsage& usage,
               bool is_restricted);

  // left_us: what remains of its estimate.
  void add(std::uint32_t job, std::int64_t left_us);
  void remove(std::uint32_t job);
  std::size_t size() const { return size_; }

  // Calls try_job(job) in order until it returns false or every job was tried; try_job may remove
  // the job that it is called with and no other. For the fair orders the next team is chosen anew
  // after each call, and a team whose job stayed in the queue is passed over until the next visit.
  // Jobs that admits(job) refuses are not tried. REQUIRES: it refuses all jobs of a team that ask
  // for as many GPUs, or none of them; and within a visit what it has refused once.
  template <class TryJob, class Admits>
  void visit(TryJob try_job, Admits admits) {
    if (is_fair_) {
      std::vector<bool> passed(queues_.size(), false);
      for (std::uint32_t team = next_team(passed); team < queues_.size();
           team = next_team(passed)) {
        const std::uint32_t job = queues_[team].begin()->job;
        const std::size_t before = size_;
        if (admits(job) && !try_job(job)) return;
        if (size_ == before) passed[team] = true;
      }
      return;
    }
    if (!queue_of_job_.empty()) {
      visit_by_size(try_job, admits);
      return;
    }
    std::set<QueueKey>& queue = queues_.front();
    for (auto at = queue.begin(); at != queue.end();) {
      const std::uint32_t job = (at++)->job;
      if (admits(job) && !try_job(job)) return;
    }
  }

 private:
  // The same order, over queues of jobs that are admitted alike: where the first one is refused the
  // others are passed over. The heads of the queues are in order by themselves; behind a head that
  // stays, the next one of its queue is kept apart.
  template <class TryJob, class Admits>
  void visit_by_size(TryJob try_job, Admits admits) {
    using Next = std::pair<QueueKey, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> behind;
    std::optional<QueueKey> passed;
    while (true) {
      const auto head = passed ? heads_.upper_bound(*passed) : heads_.begin();
      const bool is_head =
          behind.empty() || (head != heads_.end() && head->first < behind.top().first);
      if (is_head && head == heads_.end()) return;
      const auto [key, queue] = is_head ? Next(*head) : behind.top();
      if (is_head) {
        passed = key;
      } else {
        behind.pop();
      }
      if (!admits(key.job)) continue;
      const std::size_t before = size_;
      if (!try_job(key.job)) return;
      if (is_head && size_ != before) continue;  // the next one is the head now
      const auto next = queues_[queue].upper_bound(key);
      if (next != queues_[queue].end()) behind.emplace(*next, queue);
    }
  }
  std::uint32_t next_team(const std::vector<bool>& passed) const;  // team count: none is left
  std::size_t queue_of(std::uint32_t job) const;
  QueueKey key_of(std::uint32_t job) const;

  std::span<const Job> jobs_;
  QueueOrder order_;
  const TeamUsage& usage_;
  bool is_fair_;
  std::vector<std::set<QueueKey>> queues_;  // of each team, of each size of its jobs, or one
  std::vector<std::size_t> queue_of_job_;   // where there is one for each size
  std::map<QueueKey, std::size_t> heads_;   // of queues_, likewise
  std::vector<std::int64_t> left_us_;       // of each job that waits
  std::size_t size_ = 0;
};

}  // namespace pennyweight::replay
