// One target, asked once.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "collect/target.h"
#include "core/clock.h"
#include "core/instant.h"
#include "http/client.h"

namespace pennyweight::collect {

// What came of it: Prometheus' `up`, scrape_duration_seconds and the answer as it is, so that it
// can be journaled before it is read (ingest/prometheus/scrape_reader.h).
struct ScrapedBody {
  Instant at;       // when it was asked: the time of samples that say none
  bool up = false;  // it answered 200; otherwise `error` says what happened
  std::string error = {};
  std::string content_type = {};
  std::string body = {};  // decoded
  std::chrono::milliseconds duration{0};
  std::optional<std::chrono::milliseconds> retry_after = {};  // it wants not to be asked sooner
};

// Never an Error: that a target does not answer is news too.
ScrapedBody scrape(http::Client& client, const Target& target, Clock& clock);

}  // namespace pennyweight::collect
