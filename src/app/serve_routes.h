// The routes of `serve` itself: samples in, health and metrics.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/live_ledger.h"
#include "app/live_source.h"
#include "collect/scrape_pool.h"
#include "live/engine.h"
#include "server/server.h"

namespace pennyweight {

// What the routes ask. All outlive the server.
struct Served {
  live::Engine& engine;
  const LiveLedger& ledger;
  const StateMetricsSource& state_metrics;
  const std::vector<LiveSource*>& sources;
  const collect::ScrapePool* pool;  // null: nothing is scraped
  Clock& clock;
  // Of the server itself, once it runs.
  std::function<std::vector<server::RouteCounts>()> route_counts;
};

std::vector<server::Route> serve_routes(const Served& served);

}  // namespace pennyweight
