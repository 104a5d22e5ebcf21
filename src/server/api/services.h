// Services: what the handlers of the API use. The program fills it in at start; everything that it
// refers to outlives the routes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/clock.h"
#include "core/error.h"
#include "insight/queries/advice_cache.h"
#include "insight/queries/budget_forecasts.h"
#include "server/api/downloads.h"
#include "server/api/failed_sign_ins.h"
#include "server/api/machine_clients.h"
#include "server/api/uploads.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight {
struct Config;
class RunningAlerts;
class Catalog;
class ApprovalBook;
class BudgetBook;
class AnnotationBook;
class AnomalyBook;
class EventBook;
class ForecastBook;
class ExchangeRates;
struct LiveView;
class Store;
namespace access {
class Accounts;
namespace oidc {
class Provider;
}
}  // namespace access
namespace guardrails {
struct StopState;
}
namespace manifests {
struct ClusterObjects;
}
namespace rollup {
class Rollup;
}
namespace audit_log {
class AuditLog;
}
}  // namespace pennyweight

namespace pennyweight::api {

class WhatIfRuns;

struct Services {
  const Config& config;
  const Catalog& catalog;
  Clock& clock;
  // Opens the ledger for one answer; may wait for others to close it.
  std::function<Result<void>(const std::function<Result<void>(Store&)>&)> ledger;
  rollup::Rollup& rollup;
  access::Accounts& accounts;
  audit_log::AuditLog& audit_log;
  access::oidc::Provider* oidc = nullptr;  // null: not configured
  // What runs now; null before the first update.
  std::function<std::shared_ptr<const LiveView>()> live = {};
  // The configured exchange rates; empty: none are configured.
  std::function<Result<ExchangeRates>()> rates = {};
  std::string version = {};              // of the program
  audit_log::LogFiles audit_files = {};  // for verifying the whole log
  MachineClients machine_clients = {};
  std::shared_ptr<FailedSignIns> failed_sign_ins = std::make_shared<FailedSignIns>();
  std::shared_ptr<const Downloads> downloads = std::make_shared<const Downloads>();
  std::shared_ptr<BudgetBook> budget_book = {};    // null: budgets are configured only
  std::shared_ptr<AnomalyBook> anomaly_book = {};  // null: nobody says anything of unusual days
  std::shared_ptr<AnnotationBook> annotation_book = {};  // null: nobody annotates costs
  std::shared_ptr<EventBook> event_book = {};            // null: events are configured only
  std::shared_ptr<ApprovalBook> approval_book = {};      // null: there are no approvals
  // What is known of the cluster, never null; empty: nothing is.
  std::function<std::shared_ptr<const manifests::ClusterObjects>()> cluster_objects = {};
  std::shared_ptr<ForecastBook> forecast_book = {};  // null: no forecasts are kept
  std::shared_ptr<WhatIfRuns> what_if_runs = {};     // null: no scenarios are replayed
  // Null before alerts are evaluated; empty: they never are.
  std::function<RunningAlerts*()> alerts = {};
  // The notices of limits that stop what runs; empty: there are none.
  std::function<guardrails::StopState()> limit_stops = {};
  std::shared_ptr<BudgetForecasts> budget_forecasts = std::make_shared<BudgetForecasts>();
  std::shared_ptr<AdviceCache> advice_cache = std::make_shared<AdviceCache>();
  // Import an uploaded file, and divide a month anew; empty: not possible here.
  std::function<Result<Made<UploadReport>>(const FileUpload&)> import_upload = {};
  std::function<Result<Made<std::vector<RunReport>>>(const std::string& month)> allocate = {};
};

}  // namespace pennyweight::api
