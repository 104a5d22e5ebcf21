#include "app/alerting/rule_settings.h"

#include <algorithm>
#include <chrono>

#include "app/alerting/week_hours.h"

namespace pennyweight {

std::vector<AlertCondition> as_configured(std::vector<AlertCondition> conditions,
                                          const AlertConfig& config) {
  std::erase_if(conditions, [&](const AlertCondition& one) {
    return std::ranges::find(config.off, one.rule) != config.off.end();
  });
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
