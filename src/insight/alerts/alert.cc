#include "insight/alerts/alert.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "core/json_text.h"
#include "insight/alerts/message_template.h"

namespace pennyweight {
namespace {

constexpr std::size_t kChatTextBytesMax = 3'000;
constexpr std::string_view kZeroWidthSpace = "\u200b";

// Of which alerts it can't be known whether they go on.
class UnknownIndex {
 public:
  explicit UnknownIndex(std::span<const UnknownAlerts> unknown) {
    for (const UnknownAlerts& one : unknown) all_.emplace(one.rule, one.subject);
  }

  bool holds(const AlertCondition& condition) const {
    if (all_.empty()) return false;
    const std::string_view rule = condition.rule;
    return all_.contains({rule, condition.subject}) || all_.contains({rule, std::string_view()});
  }

 private:
  std::set<std::pair<std::string_view, std::string_view>> all_;  // without a subject: of any
};

// One step of a book: what was found goes in, what receivers should be told comes out.
class AlertStep {
 public:
  AlertStep(const AlertRound& round, const AlertTiming& timing, AlertChanges& changes)
      : round_(round), timing_(timing), changes_(changes), unknown_(round.unknown) {}

  void see(AlertBook& book) {
    for (auto& [key, alert] : book) {
      if (!is_evaluated(key.first)) continue;
      alert.seen = unknown_.holds(alert.condition) ? Alert::Seen::kUnknown : Alert::Seen::kGone;
    }
    for (const AlertCondition& condition : round_.conditions) see_condition(book, condition);
  }

  void tell(AlertBook& book, AlertSeverity severity) {
    for (auto at = book.begin(); at != book.end();) {
      const bool is_next = at->second.condition.severity == severity;
      at = is_next && ends(at->second) ? book.erase(at) : std::next(at);
    }
  }

  std::vector<AlertNotification> take_told() { return std::move(told_); }

 private:
  bool is_evaluated(std::string_view rule) const {
    return round_.rules.empty() || std::ranges::find(round_.rules, rule) != round_.rules.end();
  }

  void see_condition(AlertBook& book, const AlertCondition& condition) {
    const std::pair<std::string_view, std::string_view> key(condition.rule, condition.scope);
    auto place = book.find(key);
    if (place == book.end()) {
      place = book.emplace(AlertBook::key_type(key), Alert{.condition = condition}).first;
      place->second.since = round_.now;
      changes_.begun.push_back(place->first);
    } else if (place->second.condition != condition) {
      place->second.condition = condition;
      changes_.is_reworded = true;
    }
    place->second.seen = Alert::Seen::kHolds;
  }

  // Tells of an alert what is to be told. Returns whether it is over.
  bool ends(Alert& alert) {
    const Instant now = round_.now;
    const bool is_full = told_.size() >= timing_.notifications_max;
    const bool holds = alert.seen == Alert::Seen::kHolds;
    if (alert.seen != Alert::Seen::kGone) alert.last_true = now;
    if (alert.seen == Alert::Seen::kUnknown) return false;
    // The clock may have gone back. Once somebody was told, the beginning is part of the id.
    if (holds && !alert.notified) alert.since = std::min(alert.since, now);
    const auto keep = alert.condition.keep.value_or(timing_.hold);
    if (!holds && (now - alert.last_true >= keep || now < alert.last_true)) {
      if (alert.notified && is_full) return false;
      if (alert.notified) {
        alert.ended = now;
        told_.push_back({alert.id() + "/resolved", alert, false});
      }
      changes_.ended.push_back(alert);
      return true;
    }
    const bool was_silent = alert.is_silent;
    alert.is_silent =
        alert.condition.is_inhibited || is_silenced(alert.condition, round_.today, round_.silences);
    changes_.is_reworded = changes_.is_reworded || alert.is_silent != was_silent;
    if (!holds || alert.is_silent || is_full) return false;
    if (!alert.notified && now - alert.since < alert.condition.wait) return false;
    const bool is_due =
        !alert.notified || (alert.condition.is_repeated &&
                            (now - *alert.notified >= timing_.repeat || now < *alert.notified));
    if (!is_due) return false;
    const bool is_first = !alert.notified;
    changes_.notified.emplace_back(AlertBook::key_type(alert.condition.rule, alert.condition.scope),
                                   alert.notified);
    alert.notified = now;
    told_.push_back({is_first ? alert.id() + "/firing"
                              : fmt::format("{}/firing/{}", alert.id(), pennyweight::to_text(now)),
                     alert, true});
    return false;
  }

  const AlertRound& round_;
  const AlertTiming& timing_;
  AlertChanges& changes_;
  const UnknownIndex unknown_;
  std::vector<AlertNotification> told_;
};

std::string field(std::string_view name, std::string_view value) {
  return fmt::format("{}: {}", json_string(name), json_string(value));
}

// So that nothing in a name becomes a line or a link.
std::string in_one_line(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_control = static_cast<unsigned char>(text[i]) < 0x20;
    out += is_control ? ' ' : text[i];
    if (out.ends_with("://")) out += kZeroWidthSpace;
  }
  return out;
}

// Slack reads &, < and > as markup: https://api.slack.com/reference/surfaces/formatting#escaping
std::string escape_for_slack(std::string_view text) {
  std::string out;
  for (const char c : in_one_line(text)) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

// A card reads Markdown: links, emphasis and lists.
std::string escape_for_teams(std::string_view text) {
  static constexpr std::string_view kMarkup = "\\[]()*_#`~>!";
  std::string out;
  for (const char c : in_one_line(text)) {
    if (kMarkup.contains(c)) out += '\\';
    out += c;
  }
  return out;
}

// Neither a letter nor an escape is cut in two.
std::string cut_for_chat(std::string text) {
  if (text.size() <= kChatTextBytesMax) return text;
  std::size_t size = kChatTextBytesMax;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  text.resize(size);
  const std::size_t entity = text.rfind('&');
  if (entity != std::string::npos && text.find(';', entity) == std::string::npos) {
    text.resize(entity);
  }
  const std::size_t last = text.find_last_not_of('\\');
  if (last != std::string::npos && (text.size() - last) % 2 == 0) text.pop_back();
  return text + "…";
}

std::string chat_text(const AlertNotification& one, std::string_view text,
                      std::string (*escape)(std::string_view)) {
  return cut_for_chat(text.empty() ? escape(alert_text(one))
                                   : fill_message_template(text, one, escape)) +
         one.link;
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
    const std::string_view subject = condition.subject;
    const bool is_cluster_of =
        subject.starts_with(silence.scope) && subject.substr(silence.scope.size()).starts_with('/');
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
  return {"approval_escalated",
          "approval_pending",
          "budget_exhausted",
          "budget_forecast",
          "budget_probable",
          "budget_spent",
          "commitment_expires",
          "commitment_underused",
          "cost_anomaly",
          "costs_missing",
          "coverage_fell",
          "forecast_missed",
          "gpu_ecc",
          "gpu_hot",
          "gpu_idle",
          "gpu_out_of_memory",
          "gpu_throttled",
          "gpu_xid",
          "high_utilisation",
          "inference_idle",
          "latency_high",
          "limit_stop_due",
          "limit_stop_notice",
          "low_utilisation",
          "no_checkpoint",
          "node_missing",
          "pod_oom_killed",
          "reconcile_off",
          "spot_interrupted",
          "telemetry_missing"};
}

std::string Alert::id() const {
  return fmt::format("{}/{}/{}", condition.rule, condition.scope, pennyweight::to_text(since));
}

bool Alert::is_same(const Alert& other) const {
  return since == other.since && condition.scope == other.condition.scope &&
         condition.rule == other.condition.rule;
}

std::vector<AlertNotification> step_alerts(AlertBook& book, const AlertRound& round,
                                           const AlertTiming& timing, AlertChanges* changes) {
  AlertChanges unwanted;
  AlertStep step(round, timing, changes == nullptr ? unwanted : *changes);
  step.see(book);
  // The critical ones first, so that a storm of warnings does not keep them waiting.
  step.tell(book, AlertSeverity::kCritical);
  step.tell(book, AlertSeverity::kWarning);
  return step.take_told();
}

void undo(AlertBook& book, const AlertChanges& changes) {
  for (const auto& [key, notified] : changes.notified) {
    const auto alert = book.find(key);
    if (alert != book.end()) alert->second.notified = notified;
  }
  for (const AlertBook::key_type& key : changes.begun) book.erase(key);
  for (Alert alert : changes.ended) {
    alert.ended.reset();
    AlertBook::key_type key(alert.condition.rule, alert.condition.scope);
    book.insert_or_assign(std::move(key), std::move(alert));
  }
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

std::string slack_text(const AlertNotification& notification, std::string_view text) {
  return chat_text(notification, text, escape_for_slack);
}

std::string teams_text(const AlertNotification& notification, std::string_view text) {
  return chat_text(notification, text, escape_for_teams);
}

std::string slack_json(std::span<const AlertNotification> notifications, std::string_view text) {
  std::string lines;
  for (const AlertNotification& one : notifications) {
    if (!lines.empty()) lines += '\n';
    lines += slack_text(one, text);
  }
  return fmt::format("{{{}, \"unfurl_links\": false, \"unfurl_media\": false}}",
                     field("text", lines));
}

std::string teams_json(std::span<const AlertNotification> notifications, std::string_view text) {
  std::string blocks;
  for (const AlertNotification& one : notifications) {
    if (!blocks.empty()) blocks += ", ";
    blocks += fmt::format("{{\"type\": \"TextBlock\", \"wrap\": true, {}}}",
                          field("text", teams_text(one, text)));
  }
  return fmt::format(
      "{{\"type\": \"message\", \"attachments\": [{{\"contentType\": "
      "\"application/vnd.microsoft.card.adaptive\", \"content\": {{\"type\": \"AdaptiveCard\", "
      "\"version\": \"1.4\", \"body\": [{}]}}}}]}}",
      blocks);
}

}  // namespace pennyweight
