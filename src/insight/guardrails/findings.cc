#include "insight/guardrails/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/plain_text.h"
#include "reporting/minor_unit.h"

namespace pennyweight::guardrails {
namespace {

std::string amount_text(Money amount) {
  return fmt::format("{} {}", format_minor(amount), amount.currency().text());
}

bool is_above(Money amount, const std::optional<Money>& limit) {
  return limit && amount.ticks() > limit->ticks();
}

}  // namespace

std::string_view rule_id(Finding::Rule rule) {
  switch (rule) {
    case Finding::Rule::kPerHour:
      return "cost-per-hour";
    case Finding::Rule::kPerRun:
      return "cost-per-run";
    case Finding::Rule::kPerMonth:
      return "cost-per-month";
    case Finding::Rule::kIncrease:
      return "cost-increase";
    case Finding::Rule::kNotPriced:
      return "not-priced";
  }
  return "";
}

std::vector<Finding> find_problems(const Estimate& estimate, const EstimateComparison* comparison,
                                   const EstimateLimits& limits) {
  std::vector<Finding> findings;
  const EstimateTotals totals = estimate.totals();
  const auto add_total = [&](Finding::Rule rule, std::string_view what, Money amount, Money limit) {
    findings.push_back({rule, true, "", 1, "all workloads",
                        fmt::format("{} is {}, above the limit of {}", what, amount_text(amount),
                                    amount_text(limit))});
  };
  if (is_above(totals.per_hour, limits.per_hour)) {
    add_total(Finding::Rule::kPerHour, "the cost per hour", totals.per_hour, *limits.per_hour);
  }
  if (is_above(totals.per_month_max, limits.per_month)) {
    add_total(Finding::Rule::kPerMonth, "the cost per month, with autoscalers at their limits,",
              totals.per_month_max, *limits.per_month);
  }
  if (comparison != nullptr) {
    const Money increase = comparison->after.per_month_max - comparison->before.per_month_max;
    if (is_above(increase, limits.increase_per_month)) {
      add_total(Finding::Rule::kIncrease, "the increase per month", increase,
                *limits.increase_per_month);
    }
  }
  for (const WorkloadEstimate& workload : estimate.workloads) {
    const EstimateTotals own = totals_of(workload, estimate.currency);
    if (limits.per_run && own.without_length > 0) {
      findings.push_back({Finding::Rule::kPerRun, true, workload.workload.file,
                          workload.workload.line, workload_title(workload.workload),
                          fmt::format("nothing limits its time, so a run may cost more than {}; "
                                      "state a time limit",
                                      amount_text(*limits.per_run))});
    } else if (is_above(own.per_run_max, limits.per_run)) {
      findings.push_back({Finding::Rule::kPerRun, true, workload.workload.file,
                          workload.workload.line, workload_title(workload.workload),
                          fmt::format("a run may cost {}, above the limit of {}",
                                      amount_text(own.per_run_max), amount_text(*limits.per_run))});
    }
  }
  // Where there is no price at all, a misspelt provider or model must not pass a limit.
  const bool has_limit =
      limits.per_hour || limits.per_run || limits.per_month || limits.increase_per_month;
  const bool has_price = std::ranges::any_of(estimate.workloads, [](const WorkloadEstimate& one) {
    return std::ranges::any_of(one.groups,
                               [](const GroupEstimate& group) { return group.problem.empty(); });
  });
  const bool cant_be_held = has_limit && !has_price;
  for (Finding& finding : find_unpriced(estimate)) {
    finding.fails = limits.refuses_unpriced || cant_be_held;
    finding.message =
        (cant_be_held ? "nothing is priced, so no limit can be held: " : "not priced: ") +
        finding.message;
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> find_unpriced(const Estimate& estimate) {
  std::vector<Finding> findings;
  for (const WorkloadEstimate& workload : estimate.workloads) {
    for (const GroupEstimate& group : workload.groups) {
      if (group.problem.empty()) continue;
      std::string about = workload_title(workload.workload);
      if (!group.group.name.empty()) about += fmt::format(" ({})", group.group.name);
      findings.push_back({Finding::Rule::kNotPriced, false, workload.workload.file,
                          group.group.line, about, group.problem});
    }
  }
  for (const manifests::UnpricedObject& object : estimate.unpriced) {
    findings.push_back(
        {Finding::Rule::kNotPriced, false, object.file, object.line,
         object.name.empty() ? object.kind : fmt::format("{} {}", object.kind, object.name),
         object.reason});
  }
  return findings;
}

bool any_fails(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, &Finding::fails);
}

std::string workload_title(const manifests::WorkloadRequest& workload) {
  std::string title = workload.kind + " ";
  if (!workload.name_space.empty()) title += workload.name_space + "/";
  return printable_text(title + workload.name, 300);
}

}  // namespace pennyweight::guardrails
