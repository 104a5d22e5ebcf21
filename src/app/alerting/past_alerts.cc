#include "app/alerting/past_alerts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "app/alerting/conditions.h"
#include "app/alerting/device_conditions.h"
#include "app/alerting/reported_costs.h"
#include "app/alerting/rule_settings.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "insight/queries/budget_query.h"

namespace pennyweight {
namespace {

constexpr std::chrono::minutes kStep{5};
constexpr std::chrono::hours kChunk{1};
constexpr std::size_t kAlertsShownMax = 1000;
constexpr std::string_view kReplayed[] = {
    "budget_exhausted",  "budget_forecast", "budget_probable", "budget_spent",
    "cost_anomaly",      "coverage_fell",   "gpu_ecc",         "gpu_hot",
    "gpu_out_of_memory", "gpu_throttled",   "gpu_xid"};

Instant end_of(const Usage& usage) { return usage.at + std::chrono::milliseconds(usage.span_ms); }

class Replay {
 public:
  Replay(const PastAlertsQuery& query, const Config& config) : query_(query), config_(config) {}

  Result<PastAlerts> run() {
    for (Date day = query_.first; day <= query_.last; day += std::chrono::days(1)) {
      // Some days begin later than at midnight, and all of them have a noon.
      const Instant noon = TRY(parse_local_time(to_text(day) + "T12:00:00",
                                                config_.policy.time_zone, Ambiguous::kEarlier));
      TRY(replay_day(day, day_of(noon, config_.policy.time_zone)));
    }
    std::vector<std::string_view> others;
    for (const std::string_view rule : alert_rule_names()) {
      if (std::ranges::find(kReplayed, rule) == std::end(kReplayed)) others.push_back(rule);
    }
    past_.notes.push_back(fmt::format(
        "not replayed, since they depend on when data came, or on what ran at that moment: {}",
        fmt::join(others, ", ")));
    return std::move(past_);
  }

 private:
  // What the costs say on a day. A problem is a note, once.
  std::vector<AlertCondition> find_in_costs(Date day) {
    std::vector<AlertCondition> found;
    const auto add = [&](std::vector<AlertCondition> more) {
      std::ranges::move(more, std::back_inserter(found));
    };
    const auto statuses = query_budgets({.budgets = query_.budgets,
                                         .today = day,
                                         .events = query_.events,
                                         .conversion = configured_conversion(config_.currencies),
                                         .kept = &forecasts_},
                                        config_.policy, query_.summarise);
    if (statuses) {
      add(budget_conditions(*statuses));
      for (const BudgetStatus& one : *statuses) {
        if (!one.problem.empty()) note(fmt::format("budget {}: {}", one.budget.name, one.problem));
      }
    }
    AnomalyQuery anomalies{
        .costs = {.by = config_.alerts.anomalies_by, .today = day + std::chrono::days(1)}};
    anomalies.cause = kAnomalyCause;
    anomalies.since = day - kIncidentBack;
    ReportedCosts reported(config_.currencies, query_.summarise);
    const auto unusual = query_anomalies(anomalies, config_.policy, reported.source());
    const auto history = query_daily_costs(anomalies.costs, config_.policy, reported.source());
    if (const std::string rates = reported.newest_rates(); !rates.empty()) {
      note("costs in other currencies are converted, at rates such as " + rates);
    }
    if (unusual) {
      AnomalyLimits limits{.by = anomalies.costs.by, .since = day};
      if (history) {
        limits.least = least_anomaly(*history, config_.alerts.thresholds.anomaly_permille);
      }
      add(anomaly_conditions(*unusual, limits, book_));
    } else if (unusual.error().code != ErrorCode::kNotFound) {
      note(unusual.error().message);
    }
    if (history) {
      add(owner_conditions(*history, anomalies.costs.by,
                           config_.alerts.thresholds.coverage_points));
    }
    return found;
  }

  void note(std::string text) {
    if (noted_.insert(text).second) past_.notes.push_back(std::move(text));
  }

  Result<void> replay_day(Date day, const Interval& whole) {
    const std::vector<AlertCondition> of_costs = find_in_costs(day);
    const std::chrono::milliseconds window = device_window(config_.alerts.thresholds);
    for (Instant begin = whole.begin(); begin < whole.end(); begin += kChunk) {
      const Instant end = std::min(begin + kChunk, whole.end());
      std::vector<Usage> usages;
      TRY(query_.usage(Interval(begin - window, end), [&](std::span<const Usage> batch) {
        usages.insert(usages.end(), batch.begin(), batch.end());
      }));
      // A span is known once it has ended.
      std::ranges::stable_sort(usages, {}, end_of);
      for (Instant now = begin; now < end; now += kStep) {
        const auto from = std::ranges::lower_bound(usages, now - window, {}, end_of);
        const auto to = std::ranges::upper_bound(usages, now, {}, end_of);
        auto conditions = device_conditions(std::span(from, to), now, config_.alerts.thresholds);
        conditions.insert(conditions.end(), of_costs.begin(), of_costs.end());
        step(day, now, std::move(conditions));
      }
    }
    return {};
  }

  void step(Date day, Instant now, std::vector<AlertCondition> conditions) {
    const auto silences = configured_silences(config_.alerts, config_.policy.time_zone, now);
    const AlertTiming timing{.hold = kStep, .repeat = std::chrono::hours(24 * kPastDaysMax)};
    const auto found = as_configured(std::move(conditions), config_.alerts);
    const AlertRound round{.conditions = found, .now = now, .today = day, .silences = silences};
    for (const AlertNotification& one : step_alerts(book_, round, timing)) {
      // An incident counts once, whoever else hears of a part of it.
      const bool counts = one.is_firing && !one.alert.condition.is_in_incident();
      if (counts) past_.told.push_back(one.alert);
    }
  }

  const PastAlertsQuery& query_;
  const Config& config_;
  BudgetForecasts forecasts_;
  AlertBook book_;
  std::set<std::string> noted_;
  PastAlerts past_;
};

}  // namespace

Result<PastAlerts> replay_alerts(const PastAlertsQuery& query, const Config& config) {
  const auto days = (query.last - query.first).count() + 1;
  if (days < 1 || days > kPastDaysMax) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("alerts are replayed for 1 to {} days, and not for {}", kPastDaysMax, days));
  }
  return Replay(query, config).run();
}

std::vector<Table> past_alert_tables(const PastAlerts& past, const PastAlertsQuery& query) {
  struct RuleCount {
    std::uint64_t alerts = 0;
    std::set<std::string> subjects = {};
  };
  std::map<std::string, RuleCount> counts;
  for (const Alert& alert : past.told) {
    RuleCount& count = counts[alert.condition.rule];
    ++count.alerts;
    count.subjects.insert(alert.condition.subject);
  }
  Table rules;
  rules.title = fmt::format("How often the rules would have told of something, {} to {}",
                            to_text(query.first), to_text(query.last));
  rules.columns = {{"rule", "rule"},
                   {"alerts", "alerts", ColumnKind::kCount},
                   {"subjects", "subjects", ColumnKind::kCount}};
  for (const auto& [rule, count] : counts) {
    rules.rows.push_back({rule, count.alerts, std::uint64_t{count.subjects.size()}});
  }
  rules.notes = past.notes;
  Table alerts;
  alerts.title = "These alerts";
  alerts.columns = {{"at", "at"},
                    {"severity", "severity"},
                    {"rule", "rule"},
                    {"subject", "subject"},
                    {"summary", "summary"}};
  for (const Alert& alert : past.told) {
    if (alerts.rows.size() == kAlertsShownMax) {
      alerts.notes.push_back(fmt::format("the first {} of {}", kAlertsShownMax, past.told.size()));
      break;
    }
    alerts.rows.push_back({to_text(alert.notified.value_or(alert.since)),
                           std::string(to_text(alert.condition.severity)), alert.condition.rule,
                           alert.condition.subject, alert.condition.summary});
  }
  return {std::move(rules), std::move(alerts)};
}

}  // namespace pennyweight
