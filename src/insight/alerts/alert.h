// Alerts: when an alert begins, is repeated, is silenced and ends, and who is notified.
//
// Pure: conditions and a time go in, the new state and the notifications come out. A condition that
// comes and goes within `hold` is one alert. An alert whose source did not answer goes on: it ends
// only when its condition was evaluated and no longer holds. The rules that find conditions are in
// app/alerting/conditions.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight {

enum class AlertSeverity { kWarning, kCritical };
std::string_view to_text(AlertSeverity severity);  // "warning"

// The names of all rules, in order: those that alerts.off and alerts.silences may name.
std::vector<std::string_view> alert_rule_names();

// Something that holds now. A rule and a scope name it; only one condition has both.
struct AlertCondition {
  std::string rule;          // "budget_spent"
  std::string scope;         // "nlp 2026-03-01: 80 %"
  std::string subject = {};  // what it is about, "nlp": the name of a budget, a team, a workload
  AlertSeverity severity = AlertSeverity::kWarning;
  std::string owner = {};                              // may be empty
  std::string summary = {};                            // one sentence, with the figures
  std::chrono::milliseconds wait{0};                   // how long it holds before anybody is told
  std::optional<std::chrono::milliseconds> keep = {};  // instead of AlertTiming::hold
  bool is_repeated = true;    // whether receivers are told again while it goes on
  bool is_inhibited = false;  // a graver condition of the same subject says it already
  // The scope of the condition that tells of several with one cause at once; of that one its own.
  std::string incident = {};
  bool operator==(const AlertCondition&) const = default;

  // Whether it tells of several at once.
  bool is_incident() const { return !incident.empty() && incident == scope; }
  // Whether another one tells of it: only its owner is told of it by itself.
  bool is_in_incident() const { return !incident.empty() && incident != scope; }
};

struct Alert {
  AlertCondition condition;
  Instant since = {};                    // when the condition was first seen
  Instant last_true = {};                // when it was last true
  std::optional<Instant> ended = {};     // it has ended, and receivers are told so
  std::optional<Instant> notified = {};  // when a notification was last made
  // When each receiver, by its name, first accepted a message that it began; kept only of rules
  // whose deliveries count for something (keeps_deliveries()).
  std::map<std::string, Instant> delivered = {};
  bool is_silent = false;  // now under a silence, or inhibited: nobody is told
  // What the last evaluation of its rule said of it; not kept on disk.
  enum class Seen { kGone, kUnknown, kHolds };
  Seen seen = Seen::kGone;

  // Of this occurrence: the same for every notification of it, wherever the clock jumps.
  std::string id() const;
  // Whether both are one occurrence: they have one id.
  bool is_same(const Alert& other) const;
};

struct AlertNotification {
  std::string id;  // of the occurrence and what is said of it; a repetition has a number
  Alert alert;
  bool is_firing = true;
  // An address of ours that is added to the summary when it is sent, and kept nowhere.
  std::string link = {};
};

struct AlertSilence {
  std::string rule;  // empty: any
  // The subject or the whole scope of an alert, or the cluster of CLUSTER/NODE; empty: any.
  std::string scope;
  std::optional<Date> from;
  std::optional<Date> to;
};

// Whether one of them covers the condition on this day.
bool is_silenced(const AlertCondition& condition, Date today,
                 std::span<const AlertSilence> silences);

// Alerts of which it can't be known now whether they go on, since their source did not answer.
struct UnknownAlerts {
  std::string rule;
  std::string subject = {};  // empty: any
};

struct AlertTiming {
  std::chrono::milliseconds hold{300'000};  // an alert ends this long after it was last seen
  std::chrono::milliseconds repeat{14'400'000};
  std::size_t notifications_max = 100;  // of one step; the others are told of in the next
};

// Rule and scope, also where they are views.
struct AlertKeyOrder {
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const {
    return std::tie(a.first, a.second) < std::tie(b.first, b.second);
  }
};

// By rule and scope.
using AlertBook = std::map<std::pair<std::string, std::string>, Alert, AlertKeyOrder>;

// What was found at an instant.
struct AlertRound {
  std::span<const AlertCondition> conditions;
  std::span<const UnknownAlerts> unknown = {};
  // The rules that were evaluated; empty: all. What the others last found goes on.
  std::span<const std::string_view> rules = {};
  Instant now = {};
  Date today = {};
  std::span<const AlertSilence> silences = {};
};

// What one step changed, so that it can be undone: a copy of a book of thousands costs more than
// the step.
struct AlertChanges {
  std::vector<AlertBook::key_type> begun;
  std::vector<Alert> ended;  // those of which nobody was told, too
  std::vector<std::pair<AlertBook::key_type, std::optional<Instant>>> notified;  // and when before
  bool is_reworded = false;  // one that goes on has another condition, or is silent or not
  bool is_empty() const { return begun.empty() && ended.empty() && notified.empty(); }
};

// Brings the book up to `now` and returns what receivers should be told, critical ones first, also
// where there are more than notifications_max. An alert that a silence covers is kept, and told of
// when the silence ends while it goes on. `changes`: is added to, where it is not null.
std::vector<AlertNotification> step_alerts(AlertBook& book, const AlertRound& round,
                                           const AlertTiming& timing,
                                           AlertChanges* changes = nullptr);

// As if nobody had been told, and nothing had begun or ended.
void undo(AlertBook& book, const AlertChanges& changes);

// JSON of the Alertmanager's API v2 (POST /api/v2/alerts), of a webhook, of Slack and of Teams.
std::string alertmanager_json(std::span<const AlertNotification> notifications, Instant now,
                              std::chrono::milliseconds valid_for);
std::string webhook_json(const AlertNotification& notification, bool is_retry);
// One alert in a chat, in the words of `text`, a message template; with an empty one as
// alert_text() has it. What comes from names is neither markup nor a link, and has no lines of its
// own; what is longer than 3,000 bytes is cut.
std::string slack_text(const AlertNotification& notification, std::string_view text);
std::string teams_text(const AlertNotification& notification, std::string_view text);
// Slack and Teams get several as one message.
std::string slack_json(std::span<const AlertNotification> notifications,
                       std::string_view text = {});
std::string teams_json(std::span<const AlertNotification> notifications,
                       std::string_view text = {});
// "FIRING (critical): nlp has spent …"
std::string alert_text(const AlertNotification& notification);

}  // namespace pennyweight
