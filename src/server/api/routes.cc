#include "server/api/routes.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "server/api/answers.h"
#include "server/api/endpoints.h"
#include "server/api/guard.h"
#include "server/api/openapi.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kOpen = "open";  // needs no session

struct Endpoint {
  const char* method;
  std::string_view path;  // below /api/v1
  std::string_view permission;
  server::Response (*handler)(const Services&, const server::Request&);
  bool is_stream = false;
  // Whether the sign-in must be a fresh one, since a session that was left open or stolen could do
  // lasting harm.
  bool needs_fresh_sign_in = false;
  // A file in the body, as long as serve.limits.body allows; else a small JSON document.
  bool takes_file = false;
};

constexpr bool kStream = true;
constexpr bool kFresh = true;
constexpr bool kFile = true;

constexpr Endpoint kEndpoints[] = {
    {"GET", "/costs", "read_costs", get_costs},
    {"GET", "/summary", "read_costs", get_summary},
    {"GET", "/currencies", "read_costs", get_currencies},
    {"GET", "/search", "read_costs", get_search},
    {"GET", "/dimensions", "read_costs", get_dimensions},
    {"GET", "/dimensions/{name}/values", "read_costs", get_dimension_values},
    {"GET", "/explain", "read_costs", get_explanation},
    {"GET", "/workloads", "read_costs", get_workloads},
    {"GET", "/workload", "read_costs", get_workload},
    {"GET", "/units", "read_costs", get_unit_costs},
    {"GET", "/activity", "read_costs", get_activity},
    {"GET", "/usage", "read_costs", get_usage},
    {"GET", "/staleness", "read_costs", get_staleness},
    {"GET", "/coverage", "read_costs", get_coverage},
    {"GET", "/forecast", "read_costs", get_forecast},
    {"GET", "/capacity", "read_rules", get_capacity},
    {"GET", "/budgets", "read_costs", get_budgets},
    {"GET", "/budget-definitions", "read_costs", get_budget_definitions},
    {"GET", "/budgets/{name}/versions", "read_costs", get_budget_versions},
    {"PUT", "/budgets/{name}", "manage_budgets", set_budget},
    {"DELETE", "/budgets/{name}", "manage_budgets", remove_budget},
    {"GET", "/known-events", "read_costs", get_known_events},
    {"GET", "/known-events/{name}/versions", "read_costs", get_known_event_versions},
    {"PUT", "/known-events/{name}", "manage_budgets", set_known_event},
    {"DELETE", "/known-events/{name}", "manage_budgets", remove_known_event},
    {"GET", "/anomalies", "read_costs", get_anomalies},
    {"POST", "/anomalies/verdicts", "manage_budgets", post_anomaly_verdict},
    {"GET", "/annotations", "read_costs", get_annotations},
    {"POST", "/annotations", "manage_budgets", add_annotation},
    {"DELETE", "/annotations/{id}", "manage_budgets", remove_annotation},
    {"GET", "/alerts", "read_costs", get_alerts},
    {"POST", "/alerts/silences", "manage_alerts", put_silence},
    {"DELETE", "/alerts/silences/{id}", "manage_alerts", lift_silence},
    {"POST", "/alerts/receivers/{name}/test", "manage_alerts", test_receiver},
    {"GET", "/advice", "read_costs", get_advice},
    {"GET", "/advice/decisions", "read_costs", get_advice_decisions},
    {"GET", "/advice/progress", "read_costs", get_advice_progress},
    {"POST", "/advice/{id}/steps", "decide_advice", post_advice_step},
    {"GET", "/catalog", "read_rules", get_gpu_catalog},

    {"GET", "/approvals", "read_costs", get_approvals},
    {"POST", "/approvals", "manage_own", request_approvals},
    {"GET", "/approvals/{id}", "read_costs", get_approval},
    {"POST", "/approvals/{id}/decisions", "approve", decide_approval, false, kFresh},
    {"GET", "/guardrails/replay", "read_rules", get_guard_replay},
    {"GET", "/compliance", "read_rules", get_compliance},
    {"GET", "/compliance/report", "read_rules", get_compliance_report},
    {"GET", "/what-if/choices", "read_rules", get_what_if_choices},
    {"GET", "/what-if/runs", "read_rules", get_what_if_runs},
    {"POST", "/what-if/runs", "read_rules", start_what_if_run},
    {"GET", "/what-if/runs/{id}", "read_rules", get_what_if_run},
    {"DELETE", "/what-if/runs/{id}", "read_rules", end_what_if_run},
    {"GET", "/what-if/runs/{id}/{table}", "read_rules", get_what_if_table},
    {"GET", "/limits", "read_rules", get_limits},
    {"GET", "/limits/stops", "read_rules", get_limit_stops},

    {"GET", "/live", "read_live", get_live},
    {"GET", "/live/now", "read_live", get_live_now},
    {"GET", "/top", "read_live", get_top},
    {"GET", "/events", "read_live", get_events, kStream},
    {"GET", "/fleet", "read_fleet", get_fleet},

    {"GET", "/runs", "read_rules", get_runs},
    {"GET", "/work", "read_rules", get_work},
    {"GET", "/policies", "read_rules", get_policies},
    {"GET", "/policies/compare", "read_rules", compare_policies},
    {"GET", "/policies/{version}", "read_rules", get_policy},
    {"GET", "/imports", "read_bills", get_imports},
    {"POST", "/imports", "import_files", post_import, false, kFresh, kFile},
    {"POST", "/allocations", "import_files", post_allocation, false, kFresh},
    {"GET", "/imports/{number}/rejected", "read_bills", get_rejected_rows},
    {"GET", "/reconcile", "read_bills", get_reconciliation},
    {"GET", "/reconcile/lines", "read_bills", get_reconciliation_lines},
    {"GET", "/restatements", "read_bills", get_restatements},
    {"GET", "/periods", "read_bills", get_periods},
    {"POST", "/periods/{month}/close", "close_periods", close_period, false, kFresh},
    {"GET", "/invoices", "read_invoices", get_invoices},
    {"GET", "/invoices/{number}", "read_invoices", get_invoice},
    {"PUT", "/invoices/{number}/payment", "issue_invoices", pay_invoice},
    {"DELETE", "/invoices/{number}/payment", "issue_invoices", unpay_invoice},
    {"PUT", "/invoices/{number}/dispatch", "issue_invoices", send_invoice},
    {"DELETE", "/invoices/{number}/dispatch", "issue_invoices", unsend_invoice},
    {"POST", "/invoices/preview", "issue_invoices", preview_invoices},
    {"POST", "/invoices", "issue_invoices", issue_invoices},
    {"GET", "/statements", "read_statements", get_statements},
    {"GET", "/statements/{month}", "read_statements", get_statement},
    {"GET", "/profitability", "issue_invoices", get_profitability},
    {"GET", "/clients", "issue_invoices", get_clients},
    {"GET", "/clients/report", "issue_invoices", get_clients_report},

    {"GET", "/session", kOpen, get_session},
    {"POST", "/session", kOpen, sign_in},
    {"DELETE", "/session", kSignedIn, sign_out},
    {"POST", "/session/confirm", kSignedIn, confirm_sign_in},
    {"GET", "/sessions", "manage_own", get_sessions},
    {"DELETE", "/sessions", "manage_own", end_other_sessions},
    {"DELETE", "/sessions/{id}", "manage_own", end_session},
    {"PUT", "/session/password", "manage_own", change_password},
    {"POST", "/session/totp", "manage_own", begin_totp, false, kFresh},
    {"PUT", "/session/totp", "manage_own", confirm_totp, false, kFresh},
    {"DELETE", "/session/totp", "manage_own", remove_totp},
    {"POST", "/session/totp/codes", "manage_own", make_recovery_codes, false, kFresh},
    {"GET", "/session/openid", kOpen, begin_openid},
    {"GET", "/session/openid/callback", kOpen, finish_openid},
    {"POST", "/session/openid/logout", kOpen, sign_out_by_openid},

    {"GET", "/users", "manage_users", get_users},
    {"POST", "/users", "manage_users", add_user, false, kFresh},
    {"GET", "/users/{name}", "manage_users", get_user},
    {"PATCH", "/users/{name}", "manage_users", change_user, false, kFresh},
    {"DELETE", "/users/{name}", "manage_users", remove_user, false, kFresh},
    {"POST", "/users/{name}/password", "manage_users", reset_password, false, kFresh},
    {"DELETE", "/users/{name}/sessions", "manage_users", end_sessions_of_user, false, kFresh},
    {"GET", "/roles", kSignedIn, get_roles},

    {"GET", "/tokens", "manage_own", get_tokens},
    {"POST", "/tokens", "manage_own", add_token, false, kFresh},
    {"DELETE", "/tokens/{id}", "manage_own", revoke_token},

    {"GET", "/views", "manage_own", get_views},
    {"POST", "/views", "manage_own", add_view},
    {"DELETE", "/views/{id}", "manage_own", remove_view},
    {"PUT", "/views/{id}/schedule", "manage_own", schedule_view},
    {"DELETE", "/views/{id}/schedule", "manage_own", unschedule_view},

    {"GET", "/audit", "read_audit", get_audit},
    {"GET", "/audit/verify", "read_audit", verify_audit},
};

}  // namespace

std::vector<server::Route> api_routes(const Services& services) {
  const auto shared = std::make_shared<const Services>(services);
  std::vector<server::Route> routes;
  for (const Endpoint& endpoint : kEndpoints) {
    const bool is_open = endpoint.permission == kOpen;
    routes.push_back({.method = endpoint.method,
                      .path = fmt::format("/api/v1{}", endpoint.path),
                      .open = is_open,
                      .handler =
                          [shared, &endpoint](const server::Request& request) {
                            if (endpoint.needs_fresh_sign_in) {
                              auto stale = refuse_stale(*shared, request, endpoint.permission);
                              if (stale) return *std::move(stale);
                            }
                            return endpoint.handler(*shared, request);
                          },
                      .permission = is_open ? "" : std::string(endpoint.permission),
                      .is_stream = endpoint.is_stream,
                      .body_bytes_max = endpoint.takes_file ? 0 : kJsonBodyBytesMax});
  }
  routes.push_back(openapi_route());
  return routes;
}

}  // namespace pennyweight::api
