#include "insight/guardrails/usage_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "reporting/minor_unit.h"

namespace pennyweight::guardrails {
namespace {

constexpr std::uint64_t kHourMs = 3'600'000;

std::string limit_amount(Money amount) {
  return fmt::format("{} {}", format_minor(amount), amount.currency().text());
}

bool is_used_up(const std::optional<Money>& limit, const std::optional<Money>& used) {
  return limit && used && used->ticks() >= limit->ticks();
}

// Whether 80 % and more of it are used; 5 x used >= 4 x limit.
bool is_nearly_used_up(const std::optional<Money>& limit, const std::optional<Money>& used) {
  return limit && used && used->ticks() * 5 >= limit->ticks() * 4;
}

// The most that new work costs until the month ends; nothing: not known.
std::optional<Money> cost_this_month(const WorkloadEstimate& workload, Currency currency,
                                     std::uint64_t left_ms) {
  const EstimateTotals totals = totals_of(workload, currency);
  if (totals.not_priced > 0) return std::nullopt;
  const auto until_end = scale_amount(totals.per_hour, left_ms, kHourMs);
  if (!until_end) return std::nullopt;
  switch (workload.workload.lifetime) {
    case manifests::Lifetime::kRun:
      if (totals.without_length > 0) return *until_end;
      return totals.per_run_max.ticks() < until_end->ticks() ? totals.per_run_max : *until_end;
    case manifests::Lifetime::kScheduled:
      if (totals.without_length > 0) return std::nullopt;
      return totals.per_month_max;
    case manifests::Lifetime::kService: {
      const auto at_most = scale_amount(totals.per_month_max, left_ms, kHoursPerMonth * kHourMs);
      if (!at_most) return std::nullopt;
      return *at_most;
    }
  }
  return std::nullopt;
}

bool takes_gpus(const WorkloadEstimate& workload) {
  return std::ranges::any_of(workload.groups, [](const GroupEstimate& group) {
    const bool is_gpu_machine = !group.machine || !group.machine->gpu_model.empty();
    return !group.group.gpus.empty() || (group.group.takes_whole_machines && is_gpu_machine);
  });
}

// Why new work exceeds the limit; empty: it does not.
std::string exceeds(const WorkloadEstimate& workload, const LimitUse& use, Currency currency,
                    std::uint64_t left_ms) {
  const UsageLimit& limit = use.limit;
  const bool counts_hours = limit.gpu_hours && takes_gpus(workload);
  const bool measured = (!limit.per_month || use.spent) && (!counts_hours || use.gpu_hours);
  if (!measured) return "what is used of it can't be measured: " + use.problem;
  if (is_used_up(limit.per_month, use.spent)) {
    return fmt::format("{} of {} are spent this month", limit_amount(*use.spent),
                       limit_amount(*limit.per_month));
  }
  if (counts_hours && is_used_up(limit.gpu_hours, use.gpu_hours)) {
    return fmt::format("{} of {} GPU-hours are used this month", format_minor(*use.gpu_hours),
                       format_minor(*limit.gpu_hours));
  }
  if (!limit.per_month) return "";
  const auto cost = cost_this_month(workload, currency, left_ms);
  if (!cost) {
    return fmt::format("its cost is not known, and {} are left this month",
                       limit_amount(*limit.per_month - *use.spent));
  }
  if ((*use.spent + *cost).ticks() <= limit.per_month->ticks()) return "";
  return fmt::format("it may cost {} this month, and {} of {} are left", limit_amount(*cost),
                     limit_amount(*limit.per_month - *use.spent), limit_amount(*limit.per_month));
}

}  // namespace

bool LimitUse::is_exhausted() const {
  return is_used_up(limit.per_month, spent) || is_used_up(limit.gpu_hours, gpu_hours);
}

std::string_view LimitUse::state() const {
  if (is_exhausted()) return "exhausted";
  if ((limit.per_month && !spent) || (limit.gpu_hours && !gpu_hours)) return "unknown";
  const bool is_near =
      is_nearly_used_up(limit.per_month, spent) || is_nearly_used_up(limit.gpu_hours, gpu_hours);
  return is_near ? "near" : "within";
}

bool is_limited_by(const UsageLimit& limit, const manifests::WorkloadRequest& workload) {
  if (limit.dimension == "namespace") return workload.name_space == limit.selected();
  const auto label = workload.labels.find(limit.dimension);
  return label != workload.labels.end() && label->second == limit.selected();
}

std::vector<RuleHit> limit_hits(const WorkloadEstimate& workload, std::span<const LimitUse> uses,
                                Currency currency, std::uint64_t left_ms) {
  std::vector<RuleHit> hits;
  for (const LimitUse& use : uses) {
    if (!is_limited_by(use.limit, workload.workload)) continue;
    std::string because = exceeds(workload, use, currency, left_ms);
    if (because.empty()) continue;
    hits.push_back(
        {.rule = "limit " + use.limit.name,
         .effect = use.limit.is_hard ? RuleEffect::kDeny : RuleEffect::kWarn,
         .mode = RuleMode::kEnforce,
         .because = std::move(because),
         .reason = fmt::format("{} {} has a limit", use.limit.dimension, use.limit.selected()),
         .way_out = "wait for the next month, ask for less, or have the limit raised",
         .exempted_for = ""});
  }
  return hits;
}

void add_hits(std::vector<RuleHit> hits, Verdict& verdict) {
  for (const RuleHit& hit : hits) {
    verdict.decision = std::max(
        verdict.decision, hit.effect == RuleEffect::kDeny ? Decision::kDenied : Decision::kWarned);
  }
  verdict.hits.insert(verdict.hits.end(), std::make_move_iterator(hits.begin()),
                      std::make_move_iterator(hits.end()));
}

}  // namespace pennyweight::guardrails
