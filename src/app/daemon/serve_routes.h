// The routes of `serve` itself: samples in, health and metrics.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/alerting/forecast_keeper.h"
#include "app/daemon/admission_service.h"
#include "app/daemon/live_ledger.h"
#include "app/daemon/live_source.h"
#include "app/daemon/slurm_gate.h"
#include "insight/alerts/alert.h"
#include "insight/budgets/budget.h"
#include "insight/queries/advice_cache.h"
#include "server/server.h"
#include "telemetry/collect/scrape_pool.h"
#include "telemetry/live/engine.h"
#include "telemetry/live/latency_watch.h"

namespace pennyweight {

// What the routes use. All outlive the server.
struct ServeRouteContext {
  live::Engine& engine;
  const LiveLedger& ledger;
  const StateMetricsSource& state_metrics;
  const std::vector<LiveSource*>& sources;
  const collect::ScrapePool* pool;    // null: nothing is scraped
  const AdmissionService* admission;  // null: not configured
  const SlurmGate* slurm_gate;        // null: not configured
  Clock& clock;
  // The counts of the server itself, once it runs.
  std::function<std::vector<server::RouteCounts>()> route_counts;
  std::function<server::ConnectionCounts()> connection_counts;
  // How far budgets have come, and the alerts that go on; null, and empty, before they are
  // evaluated.
  std::function<std::shared_ptr<const std::vector<BudgetStatus>>()> budgets;
  // The forecast cost of the current month; null: nothing is known of it.
  std::function<std::shared_ptr<const MonthForecast>()> month_forecast;
  std::function<std::vector<Alert>()> alerts;
  // What advice of the newest month saves, once it was asked for.
  std::function<SavingsByTeam()> advice_savings;
  // How long services take to answer.
  std::function<std::vector<live::LatencyReading>()> latencies;
};

std::vector<server::Route> serve_routes(const ServeRouteContext& context);

}  // namespace pennyweight
