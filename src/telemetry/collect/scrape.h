// One scrape of one target.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/http/client.h"
#include "core/instant.h"
#include "telemetry/collect/target.h"

namespace pennyweight::collect {

// The result of a scrape: `up`, scrape_duration_seconds and the answer as it came, so that it can
// be journaled before it is parsed (telemetry/prometheus/scrape_reader.h).
struct ScrapedBody {
  Instant at;       // when it was scraped: the time of samples without one
  bool up = false;  // it answered 200; otherwise `error` says what happened
  std::string error = {};
  std::string content_type = {};
  std::string body = {};  // decoded
  std::chrono::milliseconds duration{0};
  std::optional<std::chrono::milliseconds> retry_after = {};  // the target asks for this pause
};

// Never an Error: that a target does not answer is a result as well.
ScrapedBody scrape(http::Client& client, const Target& target, Clock& clock);

}  // namespace pennyweight::collect
