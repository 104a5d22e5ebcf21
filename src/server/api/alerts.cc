// GET /api/v1/alerts: what holds now and what has ended; silences; and a test of a receiver.
//
// Users with a scope see the alerts of the budgets in it and the unusual days of its values, and
// neither silences nor receivers.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/alert_config.h"
#include "config/config.h"
#include "core/base_encoding.h"
#include "core/billing_period.h"
#include "core/crypto/secret.h"
#include "core/date.h"
#include "core/plain_text.h"
#include "insight/alerts/alert.h"
#include "insight/alerts/running_alerts.h"
#include "insight/budgets/budget.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/budget_scope.h"
#include "server/api/endpoints.h"
#include "server/api/recorded_change.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

using server::problem;
using server::Request;
using server::Response;

constexpr std::size_t kSilenceReasonBytesMax = 500;
constexpr std::size_t kSilenceScopeBytesMax = 300;
constexpr std::chrono::days kSilenceDaysMax{366};
constexpr std::size_t kSilenceIdBytes = 8;
constexpr std::string_view kAnomalyRule = "cost_anomaly";
constexpr std::string_view kBudgetRules = "budget_";

// The alerts that a user sees. Those of nodes, workloads and the ledger are not cut to a scope, so
// users with one do not see them.
class VisibleAlerts {
 public:
  VisibleAlerts(const access::Principal& who, std::vector<Budget> budgets,
                const std::string& anomalies_by)
      : who_(who), budgets_(std::move(budgets)), anomalies_by_(anomalies_by) {}

  bool contains(const Alert& alert) const {
    const AlertCondition& condition = alert.condition;
    // Several with one cause are one row, which names what is of others; a scope sees its own.
    if (!who_.is_scoped()) return !condition.is_in_incident();
    if (condition.is_incident()) return false;
    if (condition.rule.starts_with(kBudgetRules)) {
      return std::ranges::find(budgets_, condition.subject, &Budget::name) != budgets_.end();
    }
    if (condition.rule != kAnomalyRule || who_.scope.size() != 1) return false;
    const SummaryFilter& only = who_.scope.front();
    return !only.negate && only.dimension == anomalies_by_ &&
           std::ranges::find(only.values, condition.subject) != only.values.end();
  }

 private:
  const access::Principal& who_;
  const std::vector<Budget> budgets_;
  const std::string& anomalies_by_;
};

void write_alerts(JsonWriter& out, std::string_view name, const std::vector<Alert>& alerts,
                  const VisibleAlerts& visible) {
  out.key(name).begin_list();
  for (const Alert& alert : alerts) {
    if (!visible.contains(alert)) continue;
    const AlertCondition& condition = alert.condition;
    out.begin_object()
        .field("rule", condition.rule)
        .field("scope", condition.scope)
        .field("subject", condition.subject)
        .field("severity", to_text(condition.severity))
        .field("owner", condition.owner)
        .field("summary", condition.summary)
        .field("since", alert.since)
        .field("seen", alert.last_true)
        .field("told", alert.notified)
        .field("ended", alert.ended)
        .field("is_silent", alert.is_silent)
        .end_object();
  }
  out.end_list();
}

void write_silence(JsonWriter& out, const PutSilence& silence, Date today) {
  const AlertSilence& what = silence.what;
  const bool has_begun = !what.from || today >= *what.from;
  const bool has_ended = what.to && today > *what.to;
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  // Those of the configuration have neither an id nor an author.
  out.begin_object()
      .field("id", text_or_null(silence.id))
      .field("rule", text_or_null(what.rule))
      .field("scope", text_or_null(what.scope))
      .field("from", what.from)
      .field("to", what.to)
      .field("reason", silence.reason)
      .field("by", text_or_null(silence.by))
      .field("at", silence.id.empty() ? std::nullopt : std::optional(silence.at))
      .field("is_active", has_begun && !has_ended)
      .end_object();
}

void write_silences(JsonWriter& out, const AlertConfig& config, const AlertsNow& now, Date today) {
  out.key("silences").begin_list();
  for (const PutSilence& one : now.silences) write_silence(out, one, today);
  for (const SilenceConfig& one : config.silences) {
    write_silence(
        out,
        {.id = {}, .what = {one.rule, one.scope, one.from, one.to}, .reason = one.reason, .by = {}},
        today);
  }
  out.end_list();
}

std::string_view kind_name(ReceiverKind kind) {
  switch (kind) {
    case ReceiverKind::kAlertmanager:
      return "alertmanager";
    case ReceiverKind::kWebhook:
      return "webhook";
    case ReceiverKind::kSlack:
      return "slack";
    case ReceiverKind::kTeams:
      return "teams";
    case ReceiverKind::kEmail:
      return "email";
    case ReceiverKind::kPagerDuty:
      return "pagerduty";
  }
  return "";
}

void write_receivers(JsonWriter& out, const AlertConfig& config, const AlertsNow& now) {
  out.key("receivers").begin_list();
  for (const ReceiverConfig& receiver : config.receivers) {
    const auto found = std::ranges::find(now.receivers, receiver.name, &ReceiverState::name);
    const ReceiverState state =
        found == now.receivers.end() ? ReceiverState{.name = receiver.name} : *found;
    out.begin_object()
        .field("name", receiver.name)
        .field("kind", kind_name(receiver.kind))
        .field("waiting", state.waiting)
        .field("given_up", state.given_up)
        .field("problem",
               state.problem.empty() ? std::nullopt : std::optional<std::string>(state.problem))
        .end_object();
  }
  out.end_list();
}

RunningAlerts* running_alerts_of(const Services& services) {
  return services.alerts ? services.alerts() : nullptr;
}

Response no_running_alerts() {
  return problem(503, "Service unavailable", "Alerts are not evaluated yet; try again.");
}

Result<Date> local_today(const Services& services) {
  return parse_date(local_date(services.clock.now(), services.config.policy.time_zone));
}

std::string silence_facts(const PutSilence& silence, Date today) {
  JsonWriter out;
  write_silence(out, silence, today);
  return out.text();
}

}  // namespace

Response get_alerts(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const access::Principal& who = principal_of(request);
  auto budgets = visible_budgets(services, who);
  if (!budgets) return refusal(budgets.error());
  const auto today = local_today(services);
  if (!today) return refusal(today.error());
  const RunningAlerts* running = running_alerts_of(services);
  const AlertsNow now = running == nullptr ? AlertsNow{} : running->now();
  const AlertConfig& config = services.config.alerts;
  const VisibleAlerts visible(who, *std::move(budgets), config.anomalies_by);
  JsonWriter out;
  out.begin_object().field("is_evaluated", now.is_evaluated);
  write_alerts(out, "alerts", now.alerts, visible);
  write_alerts(out, "ended", now.ended, visible);
  write_silences(out, who.is_scoped() ? AlertConfig{} : config, who.is_scoped() ? AlertsNow{} : now,
                 *today);
  write_receivers(out, who.is_scoped() ? AlertConfig{} : config, now);
  out.key("rules").begin_list();
  for (const std::string_view rule : alert_rule_names()) out.value(rule);
  out.end_list().end_object();
  return json(out);
}

Response put_silence(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const auto today = local_today(services);
  if (!today) return refusal(today.error());
  PutSilence silence{.id = {},
                     .what = {.rule = body.text("rule").value_or(""),
                              .scope = body.text("scope").value_or(""),
                              .from = *today,
                              .to = std::nullopt},
                     .reason = body.required("reason"),
                     .by = actor_name(principal_of(request)),
                     .at = services.clock.now()};
  const auto rules = alert_rule_names();
  if (!silence.what.rule.empty() && std::ranges::find(rules, silence.what.rule) == rules.end()) {
    body.reject("rule", "there is no such rule");
  }
  if (silence.what.rule.empty() && silence.what.scope.empty()) {
    body.reject("rule", "name a rule, a scope or both; all alerts can't be silenced at once");
  }
  if (silence.what.scope.size() > kSilenceScopeBytesMax || !is_plain_text(silence.what.scope)) {
    body.reject("scope", fmt::format("must be a text of at most {} bytes", kSilenceScopeBytesMax));
  }
  if (silence.reason.size() > kSilenceReasonBytesMax || !is_plain_text(silence.reason)) {
    body.reject("reason",
                fmt::format("must be a text of at most {} bytes", kSilenceReasonBytesMax));
  }
  const auto until = parse_date(body.required("to"));
  if (!until || *until < *today || *until > *today + kSilenceDaysMax) {
    body.reject("to", fmt::format("must be a date from {} to {}, the last day of the silence",
                                  to_text(*today), to_text(*today + kSilenceDaysMax)));
  }
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  silence.what.to = *until;
  RunningAlerts* running = running_alerts_of(services);
  if (running == nullptr) return no_running_alerts();
  const auto random = random_bytes(kSilenceIdBytes);
  if (!random) return refusal(random.error());
  silence.id = to_hex(*random);
  const std::string subject = "silence " + silence.id;
  const std::string facts = silence_facts(silence, *today);
  static constexpr std::string_view kAction = "alert.silence";
  if (auto intent = record_intent(services.audit_log, author_of(request), kAction, subject, facts);
      !intent) {
    return refusal(intent.error());
  }
  if (const auto put = running->silence(silence); !put) {
    record_failure(services.audit_log, author_of(request), kAction, subject, put.error());
    return refusal(put.error());
  }
  const auto recorded = append(services, request, kAction, subject, "", facts);
  if (!recorded) return refusal(recorded.error());
  return json(facts, 201);
}

Response lift_silence(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  RunningAlerts* running = running_alerts_of(services);
  if (running == nullptr) return no_running_alerts();
  const auto today = local_today(services);
  if (!today) return refusal(today.error());
  const std::string id(request.param("id"));
  const AlertsNow now = running->now();
  const auto found = std::ranges::find(now.silences, id, &PutSilence::id);
  if (found == now.silences.end()) {
    return not_found("there is no such silence, or it is lifted already");
  }
  const std::string subject = "silence " + id;
  const std::string facts = silence_facts(*found, *today);
  static constexpr std::string_view kAction = "alert.lift";
  if (auto intent = record_intent(services.audit_log, author_of(request), kAction, subject, facts);
      !intent) {
    return refusal(intent.error());
  }
  if (const auto lifted = running->lift(id); !lifted) {
    record_failure(services.audit_log, author_of(request), kAction, subject, lifted.error());
    return refusal(lifted.error());
  }
  const auto recorded = append(services, request, kAction, subject, facts, "");
  if (!recorded) return refusal(recorded.error());
  return Response{.status = 204};
}

Response test_receiver(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  RunningAlerts* running = running_alerts_of(services);
  if (running == nullptr) return no_running_alerts();
  const std::string name(request.param("name"));
  const auto& receivers = services.config.alerts.receivers;
  if (std::ranges::find(receivers, name, &ReceiverConfig::name) == receivers.end()) {
    return not_found(fmt::format("there is no receiver '{}'", name));
  }
  const std::string actor = actor_name(principal_of(request));
  const auto recorded = append(services, request, "alert.test", "receiver " + name, "", "");
  if (!recorded) return refusal(recorded.error());
  const auto sent = running->test(
      name, fmt::format("A test by {}: nothing is wrong, and nothing is to be done.", actor));
  // What did not arrive is the answer, and no failure of this server.
  JsonWriter out;
  out.begin_object()
      .field("receiver", name)
      .field("is_delivered", sent.has_value())
      .field("problem", sent ? std::nullopt : std::optional<std::string>(sent.error().message))
      .end_object();
  return json(out);
}

}  // namespace pennyweight::api
