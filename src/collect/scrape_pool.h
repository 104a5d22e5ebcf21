// ScrapePool: many targets, each asked at its interval by a bounded number of threads.
//
// A target's place within its interval comes from a hash of its id, as Prometheus does it, so that
// load is spread and a restart changes nothing. What was missed is not caught up: telemetry of the
// past can't be asked for, and shows as unobserved. Each thread holds one answer at a time, so a
// sink that is slow slows the scraping and fills no memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "collect/scrape.h"
#include "collect/target_source.h"
#include "core/clock.h"

namespace pennyweight::collect {

// A target that asks for longer is asked again after so long.
inline constexpr std::chrono::minutes kRetryAfterMax{60};

struct PoolJob {
  ScrapeJob job;
  std::unique_ptr<TargetSource> source;
};

struct PoolOptions {
  std::size_t threads = 8;
  std::chrono::milliseconds refresh{30'000};  // sources are asked so often who is there
  std::size_t targets_max = 50'000;           // of all jobs; the others are refused and counted
};

struct PoolCounts {
  std::uint64_t targets = 0;          // now
  std::uint64_t targets_refused = 0;  // at the last refresh: no address, or over targets_max
  std::uint64_t scrapes = 0;
  std::uint64_t scrapes_failed = 0;
  std::uint64_t scrapes_missed = 0;  // whole intervals that went by: too slow, or Retry-After
};

class ScrapePool {
 public:
  // Called by the pool's threads, of one target never by two at once. A target that is no longer
  // there comes a last time, not up, so that its series end.
  using Deliver = std::function<void(const Target&, ScrapedBody)>;

  // REQUIRES: `clock` may be asked by many threads, and outlives the pool; intervals are positive.
  ScrapePool(std::vector<PoolJob> jobs, Clock& clock, Deliver deliver,
             const PoolOptions& options = {});
  ~ScrapePool();
  ScrapePool(const ScrapePool&) = delete;
  ScrapePool& operator=(const ScrapePool&) = delete;

  // Ends what is under way and waits for it. Nothing is delivered afterwards.
  void stop();
  PoolCounts counts() const;
  // What was wrong with sources and targets at the last refresh, a text each, at most 100.
  std::vector<std::string> problems() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Entry {
    Target target;
    std::size_t job = 0;
    bool busy = false;   // a thread asks it
    bool gone = false;   // no longer a target
    bool ended = false;  // and delivered as such
  };
  // Shared, since a thread may ask a target that a refresh takes away.
  using EntryPointer = std::shared_ptr<Entry>;
  struct Due {
    Time at;
    EntryPointer entry;
    bool operator<(const Due& other) const { return at > other.at; }  // the earliest on top
  };

  void work(std::size_t thread);
  void ask(Due due, http::Client& client);
  void keep_refreshing();
  void refresh();
  http::Client& client_of(std::size_t thread, std::size_t job);
  Time first_time(const Target& target);

  std::vector<PoolJob> jobs_;  // the sources are used by the refreshing thread alone
  Clock& clock_;
  Deliver deliver_;
  PoolOptions options_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool stopped_ = false;
  std::map<std::string, EntryPointer> entries_;
  std::priority_queue<Due> queue_;
  std::vector<std::vector<std::unique_ptr<http::Client>>> clients_;  // by thread and job
  PoolCounts counts_;
  std::vector<std::string> problems_;

  std::vector<std::thread> threads_;
};

}  // namespace pennyweight::collect
