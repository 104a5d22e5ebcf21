// Alerts: what is wrong now becomes alerts that begin, go on and end, each told of once.
//
// Pure: conditions and a time go in, the new state and the notifications come out. A condition that
// comes and goes within `hold` is one alert and not several.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight {

enum class AlertSeverity { kWarning, kCritical };
std::string_view to_text(AlertSeverity severity);  // "warning"

// Something that holds now. A rule and a scope name it; only one condition has both.
struct AlertCondition {
  std::string rule;   // "budget_spent"
  std::string scope;  // "nlp 2026-03: 80 %"
  AlertSeverity severity = AlertSeverity::kWarning;
  std::string owner = {};             // may be empty
  std::string summary = {};           // one sentence, with the figures
  std::chrono::milliseconds wait{0};  // how long it holds before anybody is told
};

struct Alert {
  AlertCondition condition;
  Instant since = {};                 // when the condition was first seen
  Instant seen = {};                  // when it was last seen
  std::optional<Instant> ended = {};  // it has ended, and receivers are told so
  std::optional<Instant> told = {};   // when a notification was last made
  bool is_silent = false;             // begun under a silence: nobody was told

  // Of this occurrence: the same for every notification of it.
  std::string id() const;
};

struct AlertNotification {
  std::string id;  // of the occurrence and what is said of it; a repetition has a number
  Alert alert;
  bool is_firing = true;
};

struct AlertSilence {
  std::string rule;   // empty: any
  std::string scope;  // which the alert's scope begins with; empty: any
  std::optional<Date> from;
  std::optional<Date> to;
};

struct AlertTiming {
  std::chrono::milliseconds hold{300'000};  // an alert ends this long after it was last seen
  std::chrono::milliseconds repeat{14'400'000};
  std::size_t notifications_max = 100;  // of one step; the others are told of in the next
};

// By rule and scope.
using AlertBook = std::map<std::pair<std::string, std::string>, Alert>;

// Brings the book up to `now` and returns what receivers should be told, critical ones first. An
// alert that a silence covers is kept, and told of when the silence ends while it goes on.
std::vector<AlertNotification> step_alerts(AlertBook& book,
                                           std::span<const AlertCondition> conditions, Instant now,
                                           Date today, std::span<const AlertSilence> silences,
                                           const AlertTiming& timing);

// JSON of the Alertmanager's API v2 (POST /api/v2/alerts), of a webhook, of Slack and of Teams.
std::string alertmanager_json(std::span<const AlertNotification> notifications, Instant now,
                              std::chrono::milliseconds valid_for);
std::string webhook_json(const AlertNotification& notification, bool is_retry);
std::string slack_json(const AlertNotification& notification);
std::string teams_json(const AlertNotification& notification);
// "FIRING (critical): nlp has spent …"
std::string alert_text(const AlertNotification& notification);

}  // namespace pennyweight
