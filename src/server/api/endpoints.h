// The handlers of all endpoints of the API: declared here, listed with their permissions in
// routes.cc, each defined in the file of its resource.
//
// The guard has let the request through before a handler runs. Handlers of data that can be cut to
// a scope ask ScopedQueries and nothing else; the guard denies scoped users all other data.
#pragma once

#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// Costs and workloads: cut to the scope of the user.
server::Response get_costs(const Services&, const server::Request&);
server::Response get_summary(const Services&, const server::Request&);
server::Response get_currencies(const Services&, const server::Request&);
server::Response get_search(const Services&, const server::Request&);
server::Response get_dimensions(const Services&, const server::Request&);
server::Response get_dimension_values(const Services&, const server::Request&);
server::Response get_explanation(const Services&, const server::Request&);
server::Response get_workloads(const Services&, const server::Request&);
server::Response get_workload(const Services&, const server::Request&);
server::Response get_unit_costs(const Services&, const server::Request&);
server::Response get_activity(const Services&, const server::Request&);
server::Response get_usage(const Services&, const server::Request&);
server::Response get_staleness(const Services&, const server::Request&);
server::Response get_budgets(const Services& services, const server::Request& request);
server::Response get_budget_definitions(const Services& services, const server::Request& request);
server::Response get_budget_versions(const Services& services, const server::Request& request);
server::Response set_budget(const Services& services, const server::Request& request);
server::Response remove_budget(const Services& services, const server::Request& request);
server::Response get_anomalies(const Services& services, const server::Request& request);
server::Response post_anomaly_verdict(const Services&, const server::Request&);
server::Response get_known_events(const Services&, const server::Request&);
server::Response get_known_event_versions(const Services&, const server::Request&);
server::Response set_known_event(const Services&, const server::Request&);
server::Response remove_known_event(const Services&, const server::Request&);
server::Response get_annotations(const Services&, const server::Request&);
server::Response add_annotation(const Services&, const server::Request&);
server::Response remove_annotation(const Services&, const server::Request&);
server::Response get_alerts(const Services&, const server::Request&);
server::Response put_silence(const Services&, const server::Request&);
server::Response lift_silence(const Services&, const server::Request&);
server::Response test_receiver(const Services&, const server::Request&);
server::Response get_forecast(const Services& services, const server::Request& request);
server::Response get_advice(const Services& services, const server::Request& request);
server::Response get_gpu_catalog(const Services& services, const server::Request& request);
server::Response get_advice_decisions(const Services& services, const server::Request& request);
server::Response get_advice_progress(const Services& services, const server::Request& request);
server::Response post_advice_step(const Services& services, const server::Request& request);
server::Response get_coverage(const Services&, const server::Request&);

// What runs now: cut to the scope of the user.
server::Response get_live(const Services&, const server::Request&);
server::Response get_live_now(const Services&, const server::Request&);
server::Response get_top(const Services&, const server::Request&);
server::Response get_events(const Services&, const server::Request&);
server::Response get_fleet(const Services&, const server::Request&);

// Billing: read from the ledger itself. Only invoices can be cut to a scope.
server::Response get_runs(const Services&, const server::Request&);
server::Response get_work(const Services&, const server::Request&);
server::Response get_policies(const Services&, const server::Request&);
server::Response get_policy(const Services&, const server::Request&);
server::Response compare_policies(const Services&, const server::Request&);
server::Response get_imports(const Services&, const server::Request&);
server::Response post_import(const Services&, const server::Request&);
server::Response post_allocation(const Services&, const server::Request&);
server::Response get_rejected_rows(const Services&, const server::Request&);
server::Response get_reconciliation(const Services&, const server::Request&);
server::Response get_reconciliation_lines(const Services&, const server::Request&);
server::Response get_restatements(const Services&, const server::Request&);
server::Response get_periods(const Services&, const server::Request&);
server::Response close_period(const Services&, const server::Request&);
server::Response get_invoices(const Services&, const server::Request&);
server::Response get_invoice(const Services&, const server::Request&);
server::Response preview_invoices(const Services&, const server::Request&);
server::Response issue_invoices(const Services&, const server::Request&);
server::Response get_capacity(const Services&, const server::Request&);
server::Response get_statements(const Services&, const server::Request&);
server::Response get_statement(const Services&, const server::Request&);
server::Response pay_invoice(const Services&, const server::Request&);
server::Response unpay_invoice(const Services&, const server::Request&);
server::Response send_invoice(const Services&, const server::Request&);
server::Response unsend_invoice(const Services&, const server::Request&);
server::Response get_profitability(const Services&, const server::Request&);
server::Response get_clients(const Services&, const server::Request&);
server::Response get_clients_report(const Services&, const server::Request&);

// The session of the user: signing in and out, their password and second factor.
server::Response get_session(const Services&, const server::Request&);
server::Response sign_in(const Services&, const server::Request&);
server::Response sign_out(const Services&, const server::Request&);
server::Response confirm_sign_in(const Services&, const server::Request&);
server::Response get_sessions(const Services&, const server::Request&);
server::Response end_session(const Services&, const server::Request&);
server::Response end_other_sessions(const Services&, const server::Request&);
server::Response change_password(const Services&, const server::Request&);
server::Response begin_totp(const Services&, const server::Request&);
server::Response confirm_totp(const Services&, const server::Request&);
server::Response remove_totp(const Services&, const server::Request&);
server::Response make_recovery_codes(const Services&, const server::Request&);
// Signing in by the OpenID provider: to it, and back.
server::Response begin_openid(const Services&, const server::Request&);
server::Response finish_openid(const Services&, const server::Request&);
// The provider says that somebody has signed out there.
server::Response sign_out_by_openid(const Services&, const server::Request&);

// Workloads that a guardrail stops until they are approved.
server::Response get_approvals(const Services&, const server::Request&);
server::Response get_approval(const Services&, const server::Request&);
server::Response request_approvals(const Services&, const server::Request&);
server::Response decide_approval(const Services&, const server::Request&);
// A month held to the rules, and to the terms of clients.
server::Response get_guard_replay(const Services&, const server::Request&);
server::Response get_compliance(const Services&, const server::Request&);
server::Response get_compliance_report(const Services&, const server::Request&);
server::Response get_what_if_runs(const Services& services, const server::Request& request);
server::Response start_what_if_run(const Services& services, const server::Request& request);
server::Response get_what_if_run(const Services& services, const server::Request& request);
server::Response get_what_if_table(const Services& services, const server::Request& request);
server::Response end_what_if_run(const Services& services, const server::Request& request);
server::Response get_what_if_choices(const Services& services, const server::Request& request);
server::Response get_limits(const Services&, const server::Request&);
server::Response get_limit_stops(const Services&, const server::Request&);

// Users, roles, tokens, saved views.
server::Response get_users(const Services&, const server::Request&);
server::Response add_user(const Services&, const server::Request&);
server::Response get_user(const Services&, const server::Request&);
server::Response change_user(const Services&, const server::Request&);
server::Response remove_user(const Services&, const server::Request&);
server::Response reset_password(const Services&, const server::Request&);
server::Response end_sessions_of_user(const Services&, const server::Request&);
server::Response get_roles(const Services&, const server::Request&);
server::Response get_tokens(const Services&, const server::Request&);
server::Response add_token(const Services&, const server::Request&);
server::Response revoke_token(const Services&, const server::Request&);
server::Response get_views(const Services&, const server::Request&);
server::Response add_view(const Services&, const server::Request&);
server::Response schedule_view(const Services&, const server::Request&);
server::Response unschedule_view(const Services&, const server::Request&);
server::Response remove_view(const Services&, const server::Request&);

// The audit log.
server::Response get_audit(const Services&, const server::Request&);
server::Response verify_audit(const Services&, const server::Request&);

}  // namespace pennyweight::api
