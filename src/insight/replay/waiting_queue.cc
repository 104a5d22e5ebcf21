#include "insight/replay/waiting_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/check.h"

namespace pennyweight::replay {

std::int64_t estimate_of(const Job& job) {
  return job.estimate_us > 0 ? job.estimate_us : job.work_us;
}

QueueKey queue_key(QueueOrder order, const Job& job, std::uint32_t index, std::int64_t left_us) {
  Int128 key = 0;
  switch (order) {
    case QueueOrder::kFirstComeFirstServed:
    case QueueOrder::kMaxMinFair:
    case QueueOrder::kDecayedFairShare:
    case QueueOrder::kDominantResourceFair:
    case QueueOrder::kProportion:
      break;
    case QueueOrder::kPriority:
      key = -static_cast<Int128>(job.priority);
      break;
    case QueueOrder::kShortestJob:
      key = estimate_of(job);
      break;
    case QueueOrder::kShortestRemaining:
      key = left_us;
      break;
    case QueueOrder::kShortestRemainingWork:
      key = static_cast<Int128>(left_us) * static_cast<Int128>(job.request.milli_gpus());
      break;
  }
  return {key, job.submit_us, index};
}

WaitingQueue::WaitingQueue(std::span<const Job> jobs, QueueOrder order, const TeamUsage& usage,
                           bool is_restricted)
    : jobs_(jobs),
      order_(order),
      usage_(usage),
      is_fair_(is_fair(order)),
      queues_(is_fair_ ? std::max<std::size_t>(1, usage.team_count()) : 1),
      left_us_(jobs.size()) {
  if (is_fair_ || !is_restricted) return;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> numbers;
  for (std::uint32_t job = 0; job < jobs.size(); ++job) {
    const std::pair size(usage.team_of(job), jobs[job].request.milli_gpus());
    queue_of_job_.push_back(numbers.try_emplace(size, numbers.size()).first->second);
  }
  queues_.resize(std::max<std::size_t>(1, numbers.size()));
}

std::size_t WaitingQueue::queue_of(std::uint32_t job) const {
  if (is_fair_) return usage_.team_of(job);
  return queue_of_job_.empty() ? 0 : queue_of_job_[job];
}

QueueKey WaitingQueue::key_of(std::uint32_t job) const {
  return queue_key(order_, jobs_[job], job, left_us_[job]);
}

void WaitingQueue::add(std::uint32_t job, std::int64_t left_us) {
  left_us_[job] = left_us;
  const std::size_t number = queue_of(job);
  std::set<QueueKey>& queue = queues_[number];
  const auto [at, is_new] = queue.insert(key_of(job));
  CHECK(is_new, "a job waits once");
  ++size_;
  if (queue_of_job_.empty() || at != queue.begin()) return;
  if (queue.size() > 1) heads_.erase(*std::next(at));
  heads_.emplace(*at, number);
}

void WaitingQueue::remove(std::uint32_t job) {
  const std::size_t number = queue_of(job);
  std::set<QueueKey>& queue = queues_[number];
  const QueueKey key = key_of(job);
  const bool is_head = !queue.empty() && *queue.begin() == key;
  CHECK(queue.erase(key) == 1, "only a job that waits is removed");
  --size_;
  if (queue_of_job_.empty() || !is_head) return;
  heads_.erase(key);
  if (!queue.empty()) heads_.emplace(*queue.begin(), number);
}

std::uint32_t WaitingQueue::next_team(const std::vector<bool>& passed) const {
  const auto count = static_cast<std::uint32_t>(queues_.size());
  std::uint32_t best = count;
  for (std::uint32_t team = 0; team < count; ++team) {
    if (queues_[team].empty() || passed[team]) continue;
    if (best == count || usage_.is_before(team, best) ||
        (!usage_.is_before(best, team) && *queues_[team].begin() < *queues_[best].begin())) {
      best = team;
    }
  }
  return best;
}

}  // namespace pennyweight::replay
