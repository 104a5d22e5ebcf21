#include "app/alerting/alert_explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "app/alerting/delivery.h"
#include "app/alerting/rule_settings.h"
#include "core/billing_period.h"
#include "core/date.h"
#include "core/week_hours.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

std::string pause_text(milliseconds pause) {
  const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(pause.count() / 1000, 0));
  if (seconds >= 3600 && seconds % 3600 == 0) return counted(seconds / 3600, "hour");
  return seconds % 60 == 0 ? counted(seconds / 60, "minute") : counted(seconds, "second");
}

// What of the configuration or of people keeps it quiet; nothing: a graver alert does.
std::optional<std::string> silence_of(const AlertCondition& condition, const AlertState& state,
                                      const Config& config, Instant now) {
  const TimeZone& zone = config.policy.time_zone;
  const auto today = parse_date(local_date(now, zone));
  if (!today) return std::nullopt;
  const auto covers = [&](const AlertSilence& one) {
    return is_silenced(condition, *today, {&one, 1});
  };
  for (const PutSilence& one : state.silences) {
    if (covers(one.what)) return fmt::format("a silence of {}: {}", one.by, one.reason);
  }
  for (const SilenceConfig& one : config.alerts.silences) {
    if (covers({one.rule, one.scope, one.from, one.to})) return "a silence: " + one.reason;
  }
  for (const MaintenanceConfig& one : config.alerts.maintenance) {
    const bool goes_on =
        one.weekly ? is_open(*one.weekly, now, zone) : *one.from <= now && now < *one.to;
    if (goes_on && covers({.rule = {}, .scope = one.scope, .from = {}, .to = {}})) {
      return "maintenance: " + one.reason;
    }
  }
  return std::nullopt;
}

// What became of the newest notification of its beginning: empty where it was accepted.
std::string delivery_state(const std::string& receiver, const Alert& alert,
                           const AlertState& state) {
  const auto is_of_it = [&](const OutboxEntry& entry) {
    return entry.receiver == receiver && entry.notification.is_firing &&
           entry.notification.alert.is_same(alert);
  };
  const auto waits = std::ranges::find_if(state.outbox, is_of_it);
  if (waits != state.outbox.end()) {
    if (waits->problem.empty()) return fmt::format("waits until {}", to_text(waits->next));
    return fmt::format("waits until {} after attempt {}: {}", to_text(waits->next), waits->attempts,
                       waits->problem);
  }
  const auto given_up = std::ranges::find_if(state.dead, is_of_it);
  if (given_up == state.dead.end()) return "";
  return "was given up: " + given_up->problem;
}

// "ops, lead (after 1 hour; waits until …), desk (in business hours)"
std::string hearers(const Alert& alert, const AlertState& state, const AlertConfig& config) {
  std::vector<std::string> names;
  for (const ReceiverConfig& one : config.receivers) {
    if (!hears_of(one, alert.condition)) continue;
    std::string name = one.name;
    if (one.after_ms > 0)
      name += fmt::format(" (after {})", pause_text(milliseconds(one.after_ms)));
    if (one.is_in_hours) name += " (in business hours)";
    if (one.digest != DigestPeriod::kNone) name += " (in its digest)";
    const std::string how = delivery_state(one.name, alert, state);
    if (!how.empty()) name += " " + how;
    names.push_back(std::move(name));
  }
  if (names.empty()) return "no receiver hears of it";
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string explain_alert(const Alert& alert, const AlertState& state, const Config& config,
                          Instant now) {
  const AlertCondition& condition = alert.condition;
  std::string text;
  if (alert.is_silent) {
    text = "nobody is told, because of " +
           silence_of(condition, state, config, now)
               .value_or("a graver alert about the same, which says it already");
  } else if (!alert.notified && alert.since + condition.wait <= now) {
    text = fmt::format("it is told of with the next ones: one evaluation tells of at most {}",
                       AlertTiming().notifications_max);
  } else if (!alert.notified) {
    text = fmt::format("nobody is told before it has held for {}, at {}",
                       pause_text(condition.wait), to_text(alert.since + condition.wait));
  } else {
    text = fmt::format("it was told of at {}: {}", to_text(*alert.notified),
                       hearers(alert, state, config.alerts));
  }
  const milliseconds keep = condition.keep.value_or(alert_hold(config.alerts));
  return text + fmt::format("; it ends {} after it was last seen", pause_text(keep));
}

}  // namespace pennyweight
