#include "app/alerting/rule_settings.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/week_hours.h"

namespace pennyweight {
namespace {

// Which rule speaks in the place of another about the same subject. `budget_spent` also speaks in
// its own place: of several thresholds that were reached the highest one does.
struct Inhibition {
  std::string_view rule;
  std::string_view by;
};
constexpr Inhibition kInhibitions[] = {{"budget_probable", "budget_forecast"},
                                       {"budget_spent", "budget_exhausted"},
                                       {"gpu_ecc", "gpu_xid"},
                                       {"gpu_throttled", "gpu_hot"},
                                       {"gpu_idle", "inference_idle"},
                                       {"node_missing", "telemetry_missing"}};

// A rule that is off says nothing in the place of another.
void lift_inhibitions(std::vector<AlertCondition>& conditions, std::span<const std::string> off) {
  const auto is_off = [&](std::string_view rule) {
    return std::ranges::find(off, rule) != off.end();
  };
  std::set<std::string> seen;
  for (AlertCondition& one : std::views::reverse(conditions)) {
    const auto inhibition = std::ranges::find(kInhibitions, one.rule, &Inhibition::rule);
    if (inhibition == std::end(kInhibitions) || !is_off(inhibition->by)) continue;
    // Those of a subject ascend, so the last one is the highest.
    const bool is_highest = seen.insert(one.rule + " " + one.subject).second;
    if (is_highest || one.rule != "budget_spent") one.is_inhibited = false;
  }
}

}  // namespace

std::vector<AlertCondition> as_configured(std::vector<AlertCondition> conditions,
                                          const AlertConfig& config) {
  std::erase_if(conditions, [&](const AlertCondition& one) {
    return std::ranges::find(config.off, one.rule) != config.off.end();
  });
  lift_inhibitions(conditions, config.off);
  for (AlertCondition& condition : conditions) {
    const auto rule = std::ranges::find(config.rules, condition.rule, &AlertRuleConfig::rule);
    if (rule == config.rules.end()) continue;
    if (rule->for_ms) condition.wait = std::chrono::milliseconds(*rule->for_ms);
    if (rule->keep_ms) condition.keep = std::chrono::milliseconds(*rule->keep_ms);
    if (rule->is_critical) {
      condition.severity = *rule->is_critical ? AlertSeverity::kCritical : AlertSeverity::kWarning;
    }
  }
  return conditions;
}

std::chrono::milliseconds alert_hold(const AlertConfig& config) {
  return std::max(AlertTiming().hold, 3 * std::chrono::milliseconds(config.every_ms));
}

std::vector<AlertSilence> configured_silences(const AlertConfig& config, const TimeZone& zone,
                                              Instant now) {
  std::vector<AlertSilence> all;
  for (const SilenceConfig& one : config.silences) {
    all.push_back({one.rule, one.scope, one.from, one.to});
  }
  for (const MaintenanceConfig& one : config.maintenance) {
    const bool goes_on =
        one.weekly ? is_open(*one.weekly, now, zone) : *one.from <= now && now < *one.to;
    if (goes_on) all.push_back({.rule = {}, .scope = one.scope, .from = {}, .to = {}});
  }
  return all;
}

}  // namespace pennyweight
