// ScrapePool: scrapes many targets, each at its interval, with a bounded number of threads.
//
// The time of a target within its interval comes from a hash of its id, as in Prometheus, so that
// load is spread and a restart changes nothing. A missed scrape is not made up for: a target can't
// be asked about the past, and that time is unobserved. Each thread holds one answer at a time, so
// a slow sink slows the scraping down and does not fill memory.
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

#include "core/clock.h"
#include "telemetry/collect/scrape.h"
#include "telemetry/collect/target_source.h"

namespace pennyweight::collect {

// The longest Retry-After that is respected.
inline constexpr std::chrono::minutes kRetryAfterMax{60};

struct PoolJob {
  ScrapeJob job;
  std::unique_ptr<TargetSource> source;
};

struct PoolOptions {
  std::size_t threads = 8;
  std::chrono::milliseconds refresh{30'000};  // how often the sources are asked for their targets
  std::size_t targets_max = 50'000;           // of all jobs; further ones are refused and counted
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
  // Called by the pool's threads, for one target never by two at once. A target that is gone is
  // delivered once more, not up, so that its series end.
  using DeliverScrape = std::function<void(const Target&, ScrapedBody)>;

  // REQUIRES: `clock` is thread-safe and outlives the pool; intervals are positive.
  ScrapePool(std::vector<PoolJob> jobs, Clock& clock, DeliverScrape deliver,
             const PoolOptions& options = {});
  ~ScrapePool();
  ScrapePool(const ScrapePool&) = delete;
  ScrapePool& operator=(const ScrapePool&) = delete;

  // Breaks off the scrapes that are under way and waits for their threads. Nothing is delivered
  // afterwards.
  void stop();
  PoolCounts counts() const;
  // The problems of sources and targets at the last refresh, at most 100.
  std::vector<std::string> problems() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Entry {
    Target target;
    std::size_t job = 0;
    bool busy = false;   // a thread scrapes it
    bool gone = false;   // no longer a target
    bool ended = false;  // and delivered as such
  };
  // Shared: a thread may scrape a target while a refresh removes it.
  using EntryPointer = std::shared_ptr<Entry>;
  struct Due {
    Time at;
    EntryPointer entry;
    bool operator<(const Due& other) const { return at > other.at; }  // the earliest on top
  };

  void work(std::size_t thread);
  void ask(Due due, http::Client& client);
  void refresh_until_stopped();
  void refresh();
  http::Client& client_for(std::size_t thread, std::size_t job);
  Time first_time(const Target& target);

  std::vector<PoolJob> jobs_;  // only the refreshing thread uses the sources
  Clock& clock_;
  DeliverScrape deliver_;
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
