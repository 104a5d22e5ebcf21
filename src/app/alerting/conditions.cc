#include "app/alerting/conditions.h"

#include <fmt/format.h>

#include <algorithm>

#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr int kProbablePercent = 80;

std::string figure(const Money& amount) {
  const bool is_time = amount.currency() == kGpuHourUnit;
  return fmt::format("{} {}", format_rounded(amount.amount(), 2, Thousands::kSeparated),
                     is_time ? "GPU-hours" : amount.currency().text());
}

// "60 minutes"
std::string wait_text(milliseconds wait) {
  const auto seconds = static_cast<std::uint64_t>(wait.count() / 1000);
  return seconds % 60 == 0 ? counted(seconds / 60, "minute") : counted(seconds, "second");
}

// One alert for each period: a new period is a new scope.
std::string period_scope(const BudgetStatus& status) {
  return fmt::format("{} {}", status.budget.name, to_text(status.days.first));
}

// Of several thresholds that were reached the highest one speaks.
void add_spent(const BudgetStatus& status, std::vector<AlertCondition>& out) {
  std::vector<BudgetThreshold> all = reached_thresholds(status);
  std::erase_if(all, [](const BudgetThreshold& reached) { return reached.is_forecast; });
  for (const BudgetThreshold& reached : all) {
    const bool is_all = reached.percent >= 100;
    out.push_back({.rule = is_all ? "budget_exhausted" : "budget_spent",
                   .scope = is_all ? period_scope(status)
                                   : fmt::format("{}: {} %", period_scope(status), reached.percent),
                   .subject = status.budget.name,
                   .severity = is_all ? AlertSeverity::kCritical : AlertSeverity::kWarning,
                   .owner = status.budget.owner,
                   .summary = fmt::format(
                       "Budget {}: {} of {} are spent ({} % and more) in the period from {} to {}",
                       status.budget.name, figure(status.actual), figure(status.amount),
                       reached.percent, to_text(status.days.first), to_text(status.days.last)),
                   .is_repeated = is_all,
                   .is_inhibited = reached.percent < all.back().percent});
  }
}

}  // namespace

std::vector<AlertCondition> budget_conditions(const std::vector<BudgetStatus>& statuses) {
  std::vector<AlertCondition> out;
  for (const BudgetStatus& status : statuses) {
    if (!status.problem.empty()) continue;
    add_spent(status, out);
    if (status.left.is_negative()) continue;
    const bool is_forecast_above =
        status.forecast && status.forecast->ticks() > status.amount.ticks();
    if (is_forecast_above) {
      out.push_back(
          {.rule = "budget_forecast",
           .scope = period_scope(status),
           .subject = status.budget.name,
           .owner = status.budget.owner,
           .summary = fmt::format(
               "Budget {}: {} are forecast until {}, {} more than its {}{}", status.budget.name,
               figure(*status.forecast), to_text(status.days.last),
               figure(*status.forecast - status.amount), figure(status.amount),
               status.exhausts_on ? ", which are used up on " + to_text(*status.exhausts_on) : ""),
           .is_repeated = false});
    }
    if (status.percent_above && *status.percent_above >= kProbablePercent) {
      out.push_back(
          {.rule = "budget_probable",
           .scope = period_scope(status),
           .subject = status.budget.name,
           .owner = status.budget.owner,
           .summary = fmt::format("Budget {}: with a probability of {} % the period "
                                  "costs more than its {}",
                                  status.budget.name, *status.percent_above, figure(status.amount)),
           .is_repeated = false,
           // The forecast itself exceeds it, which says more.
           .is_inhibited = is_forecast_above});
    }
  }
  return out;
}

std::vector<AlertCondition> anomaly_conditions(const std::vector<FoundAnomaly>& anomalies) {
  std::vector<AlertCondition> out;
  for (const FoundAnomaly& found : anomalies) {
    out.push_back({.rule = "cost_anomaly",
                   .scope = fmt::format("{} {}", found.key, to_text(found.first)),
                   .subject = found.key,
                   .owner = found.key,
                   .summary = found.sentence,
                   .is_repeated = false});
  }
  return out;
}

std::vector<AlertCondition> live_conditions(const LiveView& view, milliseconds idle_for,
                                            std::uint32_t low_percent) {
  std::vector<AlertCondition> out;
  for (const LiveRow& row : live_rows(view)) {
    if (row.is_unallocated || !row.runs || row.gpu_milli == 0) continue;
    const auto busy = busy_ratio(row);
    if (!busy || busy->whole <= 0) continue;  // not observed: nothing is known
    const bool is_idle = busy->part == 0;
    if (!is_idle && busy->part * 100 >= busy->whole * low_percent) continue;
    const std::string owner(row.share().dimensions.find("team").value_or(""));
    const std::string subject =
        fmt::format("{}/{}", row.cluster.text(), row.share().workload.text());
    out.push_back({.rule = is_idle ? "gpu_idle" : "low_utilisation",
                   .scope = subject,
                   .subject = subject,
                   .owner = owner,
                   .summary = fmt::format(
                       "Workload {} of cluster {} holds {} GPUs and {}{}",
                       row.share().workload.text(), row.cluster.text(), gpus_text(row.gpu_milli),
                       is_idle ? "has not used them for " + wait_text(idle_for)
                               : fmt::format("has used less than {} % of them for {}", low_percent,
                                             wait_text(idle_for)),
                       row.hour ? fmt::format("; it costs {} an hour", figure(*row.hour)) : ""),
                   .wait = idle_for});
  }
  return out;
}

std::vector<AlertCondition> coverage_conditions(const DailyCostHistory& history, Date today,
                                                std::uint32_t days_max) {
  const auto age = (today - history.last_day()).count() - 1;
  if (age <= std::int64_t{days_max}) return {};
  return {{.rule = "costs_missing",
           .scope = "ledger",
           .subject = "ledger",
           .summary = fmt::format("The ledger has no costs after {}: {} are missing; has a bill "
                                  "not come?",
                                  to_text(history.last_day()),
                                  counted(static_cast<std::uint64_t>(age), "day"))}};
}

}  // namespace pennyweight
