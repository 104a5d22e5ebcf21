#include "insight/alerts/alert.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/json_text.h"

namespace pennyweight {
namespace {

bool is_unknown(const AlertCondition& condition, std::span<const UnknownAlerts> unknown) {
  return std::ranges::any_of(unknown, [&](const UnknownAlerts& one) {
    return one.rule == condition.rule && (one.subject.empty() || one.subject == condition.subject);
  });
}

std::string field(std::string_view name, std::string_view value) {
  return fmt::format("{}: {}", json_string(name), json_string(value));
}

std::string labels_json(const AlertCondition& condition) {
  std::string labels =
      fmt::format("{{{}, {}, {}", field("alertname", "Pennyweight_" + condition.rule),
                  field("scope", condition.scope), field("severity", to_text(condition.severity)));
  if (!condition.subject.empty()) labels += ", " + field("subject", condition.subject);
  if (!condition.owner.empty()) labels += ", " + field("owner", condition.owner);
  return labels + "}";
}

}  // namespace

bool is_silenced(const AlertCondition& condition, Date today,
                 std::span<const AlertSilence> silences) {
  return std::ranges::any_of(silences, [&](const AlertSilence& silence) {
    if (!silence.rule.empty() && silence.rule != condition.rule) return false;
    const bool is_cluster_of = condition.subject.starts_with(silence.scope + "/");
    if (!silence.scope.empty() && silence.scope != condition.subject &&
        silence.scope != condition.scope && !is_cluster_of) {
      return false;
    }
    return (!silence.from || today >= *silence.from) && (!silence.to || today <= *silence.to);
  });
}

std::string_view to_text(AlertSeverity severity) {
  return severity == AlertSeverity::kCritical ? "critical" : "warning";
}

std::vector<std::string_view> alert_rule_names() {
  return {"budget_exhausted",   "budget_forecast",      "budget_probable", "budget_spent",
          "commitment_expires", "commitment_underused", "cost_anomaly",    "costs_missing",
          "coverage_fell",      "forecast_missed",      "gpu_ecc",         "gpu_hot",
          "gpu_idle",           "gpu_out_of_memory",    "gpu_throttled",   "gpu_xid",
          "high_utilisation",   "inference_idle",       "latency_high",    "low_utilisation",
          "no_checkpoint",      "node_missing",         "pod_oom_killed",  "reconcile_off",
          "spot_interrupted",   "telemetry_missing"};
}

std::string Alert::id() const {
  return fmt::format("{}/{}/{}", condition.rule, condition.scope, pennyweight::to_text(since));
}

std::vector<AlertNotification> step_alerts(AlertBook& book,
                                           std::span<const AlertCondition> conditions, Instant now,
                                           Date today, std::span<const AlertSilence> silences,
                                           const AlertTiming& timing,
                                           std::span<const UnknownAlerts> unknown) {
  std::set<AlertBook::key_type> held;  // not by their times: two rounds may be of one millisecond
  for (const AlertCondition& condition : conditions) {
    held.emplace(condition.rule, condition.scope);
    const auto [place, is_new] =
        book.try_emplace({condition.rule, condition.scope}, Alert{.condition = condition});
    Alert& alert = place->second;
    if (is_new) alert.since = now;
    // The clock may have gone back. Once somebody was told, the beginning is part of the id.
    if (!alert.notified) alert.since = std::min(alert.since, now);
    alert.last_true = now;
    alert.condition = condition;
  }
  // The critical ones first, so that a storm of warnings does not keep them waiting.
  std::vector<AlertBook::iterator> order;
  for (auto at = book.begin(); at != book.end(); ++at) order.push_back(at);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return a->second.condition.severity > b->second.condition.severity;
  });
  std::vector<AlertNotification> out;
  for (const AlertBook::iterator at : order) {
    Alert& alert = at->second;
    const bool is_full = out.size() >= timing.notifications_max;
    const bool holds = held.contains(at->first);
    if (!holds && is_unknown(alert.condition, unknown)) {
      alert.last_true = now;
      continue;
    }
    const auto keep = alert.condition.keep.value_or(timing.hold);
    if (!holds && (now - alert.last_true >= keep || now < alert.last_true)) {
      if (alert.notified && is_full) continue;
      if (alert.notified) {
        alert.ended = now;
        out.push_back({alert.id() + "/resolved", alert, false});
      }
      book.erase(at);
      continue;
    }
    alert.is_silent = alert.condition.is_inhibited || is_silenced(alert.condition, today, silences);
    if (!holds || alert.is_silent || is_full) continue;
    if (!alert.notified && now - alert.since < alert.condition.wait) continue;
    const bool is_due =
        !alert.notified || (alert.condition.is_repeated &&
                            (now - *alert.notified >= timing.repeat || now < *alert.notified));
    if (!is_due) continue;
    const bool is_first = !alert.notified;
    alert.notified = now;
    out.push_back({is_first ? alert.id() + "/firing"
                            : fmt::format("{}/firing/{}", alert.id(), pennyweight::to_text(now)),
                   alert, true});
  }
  return out;
}

std::string alert_text(const AlertNotification& notification) {
  return fmt::format("{} ({}): {}", notification.is_firing ? "FIRING" : "RESOLVED",
                     to_text(notification.alert.condition.severity),
                     notification.alert.condition.summary);
}

std::string alertmanager_json(std::span<const AlertNotification> notifications, Instant now,
                              std::chrono::milliseconds valid_for) {
  std::string text = "[";
  for (const AlertNotification& one : notifications) {
    const Instant ends = one.is_firing ? now + valid_for : one.alert.ended.value_or(now);
    text += fmt::format(
        "{}{{\"labels\": {}, \"annotations\": {{{}}}, {}, {}}}", text.size() > 1 ? ",\n" : "",
        labels_json(one.alert.condition), field("summary", one.alert.condition.summary),
        field("startsAt", to_text(one.alert.since)), field("endsAt", to_text(ends)));
  }
  return text + "]";
}

std::string webhook_json(const AlertNotification& notification, bool is_retry) {
  const Alert& alert = notification.alert;
  std::string text = fmt::format(
      "{{{}, {}, \"is_retry\": {}, {}, {}, {}, {}, {}, {}, {}", field("id", notification.id),
      field("status", notification.is_firing ? "firing" : "resolved"), is_retry,
      field("rule", alert.condition.rule), field("scope", alert.condition.scope),
      field("subject", alert.condition.subject),
      field("severity", to_text(alert.condition.severity)), field("owner", alert.condition.owner),
      field("summary", alert.condition.summary), field("since", to_text(alert.since)));
  if (alert.ended) text += ", " + field("ended", to_text(*alert.ended));
  return text + "}";
}

// Slack reads &, < and > as markup: https://api.slack.com/reference/surfaces/formatting#escaping
std::string slack_json(std::span<const AlertNotification> notifications) {
  std::string text;
  for (const AlertNotification& one : notifications) {
    if (!text.empty()) text += '\n';
    for (const char c : alert_text(one)) {
      if (c == '&') {
        text += "&amp;";
      } else if (c == '<') {
        text += "&lt;";
      } else if (c == '>') {
        text += "&gt;";
      } else {
        text += c;
      }
    }
  }
  return fmt::format("{{{}}}", field("text", text));
}

std::string teams_json(std::span<const AlertNotification> notifications) {
  std::string blocks;
  for (const AlertNotification& one : notifications) {
    if (!blocks.empty()) blocks += ", ";
    blocks += fmt::format("{{\"type\": \"TextBlock\", \"wrap\": true, {}}}",
                          field("text", alert_text(one)));
  }
  return fmt::format(
      "{{\"type\": \"message\", \"attachments\": [{{\"contentType\": "
      "\"application/vnd.microsoft.card.adaptive\", \"content\": {{\"type\": \"AdaptiveCard\", "
      "\"version\": \"1.4\", \"body\": [{}]}}}}]}}",
      blocks);
}

}  // namespace pennyweight
