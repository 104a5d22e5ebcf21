// ScrapeReader: reads the scrapes of one target one after another, and ends series that are gone.
//
// As in Prometheus (scrape/scrape.go, scrapeAndReport), a series of the last scrape that is not in
// this one, and every series when a scrape fails, ends by a stale marker at the time of the scrape.
// Samples with a time of their own are not ended this way: their exporter may merely be behind.
// Only the key of a series is kept, 16 bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "telemetry/prometheus/exposition.h"

namespace pennyweight::prometheus {

// What a target answered.
struct Scrape {
  Instant at;             // when it was scraped
  bool answered = false;  // false: it failed, or the target is gone; the rest is empty
  std::string_view content_type = {};
  std::string_view body = {};  // decoded
};

struct ScrapeReport {
  ExpositionReport exposition = {};
  std::uint64_t ended = 0;  // series that got a stale marker
};

// One thread at a time.
class ScrapeReader {
 public:
  ScrapeReader(TargetLabels target, bool honor_timestamps, const LabelLimits& limits = {});

  // An answer that can't be read ends all series as a failed scrape does, and is an Error. The key
  // of a stale marker was given to the sink before; its labels can no longer be decoded. A sink
  // that does not know the key (it restarted) has nothing to end, and must not remember the key as
  // a bad one.
  Result<ScrapeReport> read(const Scrape& scrape, SeriesSink& sink);

  std::size_t series() const { return last_.size(); }
  // The keys of the last scrape's series, for callers that keep them between scrapes.
  std::vector<Hash128> release() { return std::move(last_); }
  void resume(std::vector<Hash128> last) { last_ = std::move(last); }

 private:
  std::uint64_t end_missing(std::vector<Hash128>& now, Instant at, SeriesSink& sink);

  TargetLabels target_;
  bool honor_timestamps_;
  LabelLimits limits_;
  std::vector<Hash128> last_;  // in the order of the answer
  std::vector<Hash128> now_;
};

}  // namespace pennyweight::prometheus
