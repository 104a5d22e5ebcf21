#include "telemetry/collect/scrape_pool.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/check.h"
#include "core/hash.h"

namespace pennyweight::collect {
namespace {

constexpr std::size_t kProblemsKept = 100;

}  // namespace

ScrapePool::ScrapePool(std::vector<PoolJob> jobs, Clock& clock, DeliverScrape deliver,
                       const PoolOptions& options)
    : jobs_(std::move(jobs)), clock_(clock), deliver_(std::move(deliver)), options_(options) {
  CHECK(options_.threads > 0, "somebody must ask");
  for (const PoolJob& job : jobs_) {
    CHECK(job.source != nullptr && job.job.interval.count() > 0, "a job has a source and a rhythm");
  }
  clients_.resize(options_.threads);
  for (auto& clients : clients_) clients.resize(jobs_.size());
  threads_.emplace_back([this] { refresh_until_stopped(); });
  for (std::size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this, i] { work(i); });
  }
}

ScrapePool::~ScrapePool() { stop(); }

void ScrapePool::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    for (const auto& clients : clients_) {
      for (const auto& client : clients) {
        if (client) client->stop();
      }
    }
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

PoolCounts ScrapePool::counts() const {
  const std::scoped_lock lock(mutex_);
  PoolCounts counts = counts_;
  counts.targets = entries_.size();
  return counts;
}

std::vector<std::string> ScrapePool::problems() const {
  const std::scoped_lock lock(mutex_);
  return problems_;
}

ScrapePool::Time ScrapePool::first_time(const Target& target) {
  const auto interval = static_cast<std::uint64_t>(target.interval.count());
  const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(unix_ms(clock_.now()), 0));
  const std::uint64_t offset = hash_of(target.id).low % interval;
  const std::uint64_t wait = (offset + interval - now % interval) % interval;
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(wait);
}

// REQUIRES: the lock is held.
http::Client& ScrapePool::client_for(std::size_t thread, std::size_t job) {
  auto& client = clients_[thread][job];
  if (!client) client = std::make_unique<http::Client>(jobs_[job].job.http);
  return *client;
}

void ScrapePool::work(std::size_t thread) {
  while (true) {
    std::unique_lock lock(mutex_);
    while (!stopped_ && (queue_.empty() || queue_.top().at > std::chrono::steady_clock::now())) {
      if (queue_.empty()) {
        changed_.wait(lock);
      } else {
        const Time at = queue_.top().at;  // the queue may change while this waits
        changed_.wait_until(lock, at);
      }
    }
    if (stopped_) return;
    Due due = queue_.top();
    queue_.pop();
    if (due.entry->ended) continue;
    due.entry->busy = true;
    http::Client& client = client_for(thread, due.entry->job);
    lock.unlock();
    ask(std::move(due), client);
  }
}

void ScrapePool::ask(Due due, http::Client& client) {
  Entry& entry = *due.entry;
  bool gone = false;
  {
    const std::scoped_lock lock(mutex_);
    gone = entry.gone;
    entry.ended = gone;
  }
  ScrapedBody scraped;
  if (gone) {
    scraped.at = clock_.now();
    scraped.error = "it is no longer a target";
  } else {
    scraped = scrape(client, entry.target, clock_);
  }
  {
    const std::scoped_lock lock(mutex_);
    if (stopped_) return;  // an answer that was cut off says nothing about the target
    if (!gone) ++counts_.scrapes;
    if (!gone && !scraped.up) ++counts_.scrapes_failed;
  }
  const auto retry_after = scraped.retry_after;
  deliver_(entry.target, std::move(scraped));
  const std::scoped_lock lock(mutex_);
  entry.busy = false;
  if (gone) return;
  const Time now = std::chrono::steady_clock::now();
  if (entry.gone) {
    due.at = now;
  } else {
    Time earliest = now;
    if (retry_after) {
      earliest += std::min<std::chrono::milliseconds>(*retry_after, kRetryAfterMax);
    }
    const auto interval = entry.target.interval;
    due.at += interval;
    if (due.at < earliest) {
      const auto missed = (earliest - due.at + interval - Time::duration(1)) / interval;
      due.at += missed * interval;
      counts_.scrapes_missed += static_cast<std::uint64_t>(missed);
    }
  }
  queue_.push(std::move(due));
  changed_.notify_one();
}

void ScrapePool::refresh_until_stopped() {
  while (true) {
    refresh();
    std::unique_lock lock(mutex_);
    const Time next = std::chrono::steady_clock::now() + options_.refresh;
    changed_.wait_until(lock, next, [&] { return stopped_; });
    if (stopped_) return;
  }
}

void ScrapePool::refresh() {
  std::map<std::string, EntryPointer> found;
  std::set<std::size_t> unknown;  // jobs whose source failed: they keep what they have
  std::vector<std::string> problems;
  std::uint64_t refused = 0;
  const auto note = [&](std::string problem) {
    if (problems.size() < kProblemsKept) problems.push_back(std::move(problem));
  };
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    const auto groups = jobs_[job].source->groups();
    if (!groups) {
      unknown.insert(job);
      note("job " + jobs_[job].job.name + ": " + groups.error().message);
      continue;
    }
    for (const TargetGroup& group : *groups) {
      for (const std::string& address : group.addresses) {
        auto target = make_target(jobs_[job].job, address, group);
        if (!target) {
          ++refused;
          note(target.error().message);
          continue;
        }
        if (found.size() == options_.targets_max) {
          if (!found.contains(target->id)) ++refused;
          continue;
        }
        const std::string id = target->id;
        found.try_emplace(id,
                          std::make_shared<Entry>(Entry{.target = std::move(*target), .job = job}));
      }
    }
  }
  if (refused > 0 && found.size() == options_.targets_max) {
    note("more targets than " + std::to_string(options_.targets_max) +
         "; raise the limit or divide the work");
  }

  const std::scoped_lock lock(mutex_);
  counts_.targets_refused = refused;
  problems_ = std::move(problems);
  for (auto known = entries_.begin(); known != entries_.end();) {
    const EntryPointer& entry = known->second;
    if (found.contains(known->first) || unknown.contains(entry->job)) {
      ++known;
      continue;
    }
    entry->gone = true;
    if (!entry->busy) queue_.push({.at = std::chrono::steady_clock::now(), .entry = entry});
    known = entries_.erase(known);
  }
  for (auto& [id, entry] : found) {
    const auto [known, is_new] = entries_.try_emplace(id, entry);
    if (is_new) queue_.push({.at = first_time(entry->target), .entry = entry});
  }
  changed_.notify_all();
}

}  // namespace pennyweight::collect
