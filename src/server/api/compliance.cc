// GET /api/v1/compliance, its report as PDF, and /api/v1/guardrails/replay: a month of the ledger,
// held to the terms of clients and to the rules.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/guardrail_config.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "insight/queries/compliance_query.h"
#include "insight/queries/guard_replay.h"
#include "insight/queries/running_compliance.h"
#include "reporting/live/live_rows.h"
#include "server/access/principal.h"
#include "server/api/answers.h"
#include "server/api/compliance_access.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"
#include "server/api/tables.h"

namespace pennyweight::api {

using server::Request;
using server::Response;

namespace {

std::string required_month(QueryParams& params) {
  const auto month = params.month("month");
  if (!month) params.reject("month", "missing");
  return month.value_or("");
}

ComplianceQuery read_compliance_query(const Services& services, QueryParams& params) {
  return {.month = required_month(params),
          .client = params.text("client").value_or(""),
          .clients = services.config.guardrails->clients};
}

// Who sees and who changed what is for those who may read the audit log.
Result<Compliance> ask_compliance(const Services& services, const ComplianceQuery& query,
                                  const access::Principal& who) {
  auto found = TRY(ask_ledger(services, [&](Store& store) {
    return query_compliance(query, services.config.policy, store);
  }));
  if (!access::may(who, access::Permission::kReadAudit)) return found;
  TRY(add_access(query, services.accounts, services.config.invoice.by, services.clock.now(),
                 found));
  TRY(add_changes(query, services.audit_files.log, services.config.policy.time_zone, found));
  return found;
}

// The month that goes on also has what runs now, if that is known.
bool is_this_month(const Services& services, const std::string& month) {
  return BillingPeriod::containing(services.clock.now(), services.config.policy.time_zone).text() ==
         month;
}

Result<std::optional<Table>> running_table(const Services& services, const ComplianceQuery& query) {
  auto view = services.live && is_this_month(services, query.month) ? services.live() : nullptr;
  if (view == nullptr) return std::optional<Table>();
  const Instant at = view->at;
  const auto rows = view_rows(std::move(view));
  const auto nodes = TRY(ask_ledger(services, [](Store& store) { return store.nodes(); }));
  return running_compliance_table(find_running_violations(query, *rows, nodes), at);
}

}  // namespace

Response get_compliance(const Services& services, const Request& request) {
  QueryParams params(request);
  const ComplianceQuery query = read_compliance_query(services, params);
  if (auto problem = params.problem()) return *std::move(problem);
  auto running = running_table(services, query);
  if (!running) return refusal(running.error());
  const auto found = ask_compliance(services, query, principal_of(request));
  // Nothing is billed of the first days of a month, and work runs.
  const bool is_client = query.client.empty() ||
                         std::ranges::find(query.clients, query.client,
                                           &guardrails::ClientTerms::name) != query.clients.end();
  const bool is_unbilled =
      !found && found.error().code == ErrorCode::kNotFound && is_client && *running;
  if (!found && !is_unbilled) return refusal(found.error());
  auto tables = found ? compliance_tables(*found) : std::vector<Table>();
  if (*running) tables.insert(tables.begin(), **std::move(running));
  return answer(std::move(tables), AnswerFormat::kJson, "");
}

Response get_compliance_report(const Services& services, const Request& request) {
  QueryParams params(request);
  const ComplianceQuery query = read_compliance_query(services, params);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto found = ask_compliance(services, query, principal_of(request));
  if (!found) return refusal(found.error());
  auto bytes = render_compliance_pdf(query, *found, services.config);
  if (!bytes) return refusal(bytes.error());
  Response response{.content_type = "application/pdf", .body = *std::move(bytes)};
  response.headers.emplace_back(
      "Content-Disposition",
      fmt::format("attachment; filename=\"compliance-{}.pdf\"", query.month));
  return response;
}

Response get_guard_replay(const Services& services, const Request& request) {
  QueryParams params(request);
  const GuardrailConfig& guardrails = *services.config.guardrails;
  GuardReplayQuery query{.month = required_month(params),
                         .cluster = params.text("cluster").value_or(""),
                         .rules = guardrails.rules,
                         .currency = guardrails.pricing.currency,
                         .by = params.text("by").value_or("team")};
  for (const ClusterConfig& cluster : services.config.clusters) {
    if (cluster.kind == ClusterKind::kSlurm) query.slurm_clusters.push_back(cluster.name);
  }
  if (auto problem = params.problem()) return *std::move(problem);
  const auto replay = ask_ledger(services, [&](Store& store) {
    return replay_guardrails(query, services.config.policy, store);
  });
  if (!replay) return refusal(replay.error());
  return answer(guard_replay_tables(*replay), AnswerFormat::kJson, "");
}

}  // namespace pennyweight::api
