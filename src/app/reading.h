// Reading: a file of one format on its way through its parser into a sink, chunk by chunk.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/importer.h"
#include "app/session_sink.h"
#include "config/config.h"
#include "core/error.h"
#include "pricing/rate_card.h"

namespace pennyweight {

struct Reading {
  std::function<Result<void>(std::string_view)> feed;
  std::function<Result<void>()> finish;
};

struct ReadingInput {
  std::string file;  // its name, for messages
  const ImportOptions& options;
  ClusterConfig cluster;  // its name may be empty
  Instant now;
  const RateCard* card;  // of bills without money; null: none. Outlives the reading
  SessionSink& sink;     // these three outlive the reading
  Store& store;
  std::vector<std::string>& remarks;
};

// An error of wrong usage where the format needs what was not given: a cluster, an origin.
Result<Reading> begin_reading(InputFormat format, const ReadingInput& input);

}  // namespace pennyweight
