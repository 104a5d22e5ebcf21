// Daemon: the parts of `pennyweight serve`, opened and wired together: samples in, the ledger, the
// API and its pages.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "allocation/pricing/rate_card.h"
#include "app/alerting/alert_service.h"
#include "app/alerting/forecast_keeper.h"
#include "app/context/log.h"
#include "app/daemon/admission_service.h"
#include "app/daemon/approval_desk.h"
#include "app/daemon/cluster_listing.h"
#include "app/daemon/limit_watch.h"
#include "app/daemon/live_ledger.h"
#include "app/daemon/live_source.h"
#include "app/daemon/security_services.h"
#include "app/daemon/serve_audit_log.h"
#include "app/daemon/serve_routes.h"
#include "app/daemon/shared_ledger.h"
#include "app/daemon/slurm_gate.h"
#include "app/daemon/stop_signals.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/files/file_lock.h"
#include "core/interruption.h"
#include "reporting/rollup/rollup.h"
#include "server/api/services.h"
#include "server/server.h"
#include "telemetry/collect/scrape_pool.h"
#include "telemetry/live/engine.h"
#include "telemetry/live/latency_watch.h"

namespace pennyweight {

class Daemon {
  // What is read from the configured files before anything is opened.
  struct Inputs {
    std::vector<std::string> tokens;
    Catalog catalog;
    RateCard card;
  };

 public:
  Daemon(Inputs inputs, const Config& config, Clock& clock);  // see start()

  // Opens everything and begins to serve. `config` and `clock` outlive it. REQUIRES: the program
  // has no other threads yet.
  static Result<std::unique_ptr<Daemon>> start(const Config& config, Clock& clock);

  // Runs the ledger's cycles until SIGTERM or SIGINT; then stops taking samples and writes all that
  // is finished into the ledger.
  void run_until_stopped();

 private:
  Result<void> open();
  Result<void> be_only_serve();
  Result<void> open_sources();
  void start_scraping();
  Result<void> start_server();
  Result<void> start_alerts();
  Result<void> start_admission();

  // In the order in which they are made: each uses those before it.
  const Config& config_;
  Clock& clock_;
  const Inputs inputs_;
  const StopSignals signals_;  // before the first thread
  // End what would keep serve from stopping: answers, and the cycles of the ledger with its
  // imports.
  Interruption answering_, cycling_;
  Log log_;
  SharedLedger shared_;
  LiveLedger ledger_;
  const std::string folder_;              // live data
  std::optional<FileLock> writes_alone_;  // telemetry into the ledger's file
  StateMetricsSource state_metrics_;
  live::LatencyWatch latency_watch_;
  std::unique_ptr<live::Engine> engine_;
  std::vector<std::unique_ptr<LiveSource>> owned_sources_;
  std::vector<LiveSource*> sources_;
  std::map<ClusterId, const KubernetesSource*> apis_;
  std::unique_ptr<rollup::Rollup> rollup_;
  SecurityServices security_;
  std::unique_ptr<collect::ScrapePool> pool_;  // null: nothing is scraped
  std::shared_ptr<ApprovalBook> approvals_;
  std::unique_ptr<BookedApprovals> approval_desk_;
  std::unique_ptr<LimitWatch> limits_;
  std::unique_ptr<ClusterListing> cluster_listing_;
  std::unique_ptr<AdmissionService> admission_;  // null: not configured
  std::unique_ptr<SlurmGate> slurm_gate_;        // null: not configured
  std::unique_ptr<server::Server> http_;
  std::optional<api::Services> services_;
  std::optional<ServeAuditLog> audit_log_;
  std::unique_ptr<ForecastKeeper> forecast_keeper_;       // outlives alerts_
  std::unique_ptr<AlertService> alerts_;                  // null until it has started
  std::atomic<RunningAlerts*> running_alerts_ = nullptr;  // alerts_, as soon as it has started
};

}  // namespace pennyweight
