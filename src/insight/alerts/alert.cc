#include "insight/alerts/alert.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/json_text.h"

namespace pennyweight {
namespace {

bool is_silenced(const AlertCondition& condition, Date today,
                 std::span<const AlertSilence> silences) {
  return std::ranges::any_of(silences, [&](const AlertSilence& silence) {
    if (!silence.rule.empty() && silence.rule != condition.rule) return false;
    if (!silence.scope.empty() && !condition.scope.starts_with(silence.scope)) return false;
    return (!silence.from || today >= *silence.from) && (!silence.to || today <= *silence.to);
  });
}

std::string field(std::string_view name, std::string_view value) {
  return fmt::format("{}: {}", json_string(name), json_string(value));
}

std::string labels_json(const AlertCondition& condition) {
  std::string labels =
      fmt::format("{{{}, {}, {}", field("alertname", "Pennyweight_" + condition.rule),
                  field("scope", condition.scope), field("severity", to_text(condition.severity)));
  if (!condition.owner.empty()) labels += ", " + field("owner", condition.owner);
  return labels + "}";
}

}  // namespace

std::string_view to_text(AlertSeverity severity) {
  return severity == AlertSeverity::kCritical ? "critical" : "warning";
}

std::string Alert::id() const {
  return fmt::format("{}/{}/{}", condition.rule, condition.scope, pennyweight::to_text(since));
}

std::vector<AlertNotification> step_alerts(AlertBook& book,
                                           std::span<const AlertCondition> conditions, Instant now,
                                           Date today, std::span<const AlertSilence> silences,
                                           const AlertTiming& timing) {
  for (const AlertCondition& condition : conditions) {
    const auto [place, is_new] =
        book.try_emplace({condition.rule, condition.scope}, Alert{.condition = condition});
    Alert& alert = place->second;
    if (is_new) alert.since = now;
    // The clock may have gone back; an alert never ends before it began.
    alert.since = std::min(alert.since, now);
    alert.seen = now;
    alert.condition = condition;
  }
  std::vector<AlertNotification> out;
  for (auto at = book.begin(); at != book.end();) {
    Alert& alert = at->second;
    const bool holds = alert.seen == now;
    if (!holds && (now - alert.seen >= timing.hold || now < alert.seen)) {
      if (alert.told && out.size() >= timing.notifications_max) {
        ++at;
        continue;
      }
      if (alert.told) {
        alert.ended = now;
        out.push_back({alert.id() + "/resolved", alert, false});
      }
      at = book.erase(at);
      continue;
    }
    ++at;
    alert.is_silent = is_silenced(alert.condition, today, silences);
    if (!holds || alert.is_silent || out.size() >= timing.notifications_max) continue;
    if (now - alert.since < alert.condition.wait) continue;
    const bool is_due = !alert.told || now - *alert.told >= timing.repeat || now < *alert.told;
    if (!is_due) continue;
    const bool is_first = !alert.told;
    alert.told = now;
    out.push_back({is_first ? alert.id() + "/firing"
                            : fmt::format("{}/firing/{}", alert.id(), pennyweight::to_text(now)),
                   alert, true});
  }
  std::ranges::stable_sort(out, [](const AlertNotification& a, const AlertNotification& b) {
    return a.alert.condition.severity > b.alert.condition.severity;
  });
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
      "{{{}, {}, \"is_retry\": {}, {}, {}, {}, {}, {}, {}", field("id", notification.id),
      field("status", notification.is_firing ? "firing" : "resolved"), is_retry,
      field("rule", alert.condition.rule), field("scope", alert.condition.scope),
      field("severity", to_text(alert.condition.severity)), field("owner", alert.condition.owner),
      field("summary", alert.condition.summary), field("since", to_text(alert.since)));
  if (alert.ended) text += ", " + field("ended", to_text(*alert.ended));
  return text + "}";
}

// Slack reads &, < and > as markup: https://api.slack.com/reference/surfaces/formatting#escaping
std::string slack_json(const AlertNotification& notification) {
  std::string text;
  for (const char c : alert_text(notification)) {
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
  return fmt::format("{{{}}}", field("text", text));
}

std::string teams_json(const AlertNotification& notification) {
  return fmt::format(
      "{{\"type\": \"message\", \"attachments\": [{{\"contentType\": "
      "\"application/vnd.microsoft.card.adaptive\", \"content\": {{\"type\": \"AdaptiveCard\", "
      "\"version\": \"1.4\", \"body\": [{{\"type\": \"TextBlock\", \"wrap\": true, {}}}]}}}}]}}",
      field("text", alert_text(notification)));
}

}  // namespace pennyweight
