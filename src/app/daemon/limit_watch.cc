#include "app/daemon/limit_watch.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "config/guardrail_config.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/date.h"
#include "insight/guardrails/rules.h"
#include "insight/queries/budget_uses.h"
#include "insight/queries/limit_query.h"

namespace pennyweight {
namespace {

constexpr std::chrono::seconds kMeasureEvery{60};
constexpr std::chrono::minutes kMeasureAgeMax{15};
constexpr const char* kJustStarted = "serve has just started";

LimitUses unmeasured(const std::vector<guardrails::UsageLimit>& limits, const std::string& why) {
  LimitUses uses;
  for (const guardrails::UsageLimit& limit : limits) {
    uses.push_back({.limit = limit, .problem = why});
  }
  return uses;
}

}  // namespace

LimitWatch::LimitWatch(const Config& config, Clock& clock, Log& log)
    : config_(config),
      clock_(clock),
      log_(log),
      uses_(std::make_shared<const LimitUses>(unmeasured(config.guardrails->limits, kJustStarted))),
      budgets_(std::make_shared<const BudgetUses>(BudgetUses{.problem = kJustStarted})),
      kept_(kMeasureAgeMax),
      kept_budgets_(kMeasureAgeMax) {}

LimitWatch::~LimitWatch() { stop(); }

void LimitWatch::start(SummarySource summarise,
                       std::function<Result<std::vector<Budget>>()> budgets) {
  const auto& limits = config_.guardrails->limits;
  const bool measures = std::ranges::any_of(limits, [](const guardrails::UsageLimit& limit) {
    return limit.per_month || limit.gpu_hours;
  });
  if (guardrails::looks_at_budgets(config_.guardrails->rules)) list_budgets_ = std::move(budgets);
  if (!measures && !list_budgets_) return;
  summarise_ = std::move(summarise);
  thread_ = std::thread([this] { run(); });
}

void LimitWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const LimitUses> LimitWatch::uses() const {
  const std::lock_guard lock(mutex_);
  return uses_;
}

std::shared_ptr<const BudgetUses> LimitWatch::budgets() const {
  const std::lock_guard lock(mutex_);
  return budgets_;
}

void LimitWatch::run() {
  while (true) {
    measure();
    if (list_budgets_) measure_budgets();
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kMeasureEvery, [this] { return stopping_; })) return;
  }
}

void LimitWatch::measure() {
  const auto& limits = config_.guardrails->limits;
  const Instant now = clock_.now();
  auto measured = query_limits(limits, now, config_.policy, summarise_);
  LimitUses uses = measured ? *std::move(measured) : unmeasured(limits, measured.error().message);
  for (const guardrails::LimitUse& use : uses) {
    if (use.problem.empty()) continue;
    log_.warn_hourly("limits", "limit " + use.limit.name,
                     {{"limit", use.limit.name}, {"why", use.problem}});
  }
  kept_.fill(uses, now,
             BillingPeriod::containing(now, config_.policy.time_zone).to_interval().begin());
  const std::lock_guard lock(mutex_);
  uses_ = std::make_shared<const LimitUses>(std::move(uses));
}

void LimitWatch::measure_budgets() {
  const Instant now = clock_.now();
  const auto today = parse_date(local_date(now, config_.policy.time_zone));
  CHECK(today.has_value(), "local_date() writes a date");
  const auto listed = list_budgets_();
  auto measured = listed
                      ? query_budget_uses(*listed, *today, config_.policy, summarise_)
                      : Result<std::vector<guardrails::BudgetUse>>(std::unexpected(listed.error()));
  BudgetUses budgets;
  if (measured) {
    budgets.uses = *std::move(measured);
    for (const guardrails::BudgetUse& use : budgets.uses) {
      if (use.left) continue;
      log_.warn_hourly("budgets", "budget " + use.name,
                       {{"budget", use.name}, {"why", use.problem}});
    }
    kept_budgets_.fill(budgets.uses, now, *today);
  } else {
    const std::string& why = measured.error().message;
    log_.warn_hourly("budgets", "budgets of rules", {{"why", why}});
    auto known = kept_budgets_.recall(why, now, *today);
    if (known) {
      budgets.uses = *std::move(known);
    } else {
      budgets.problem = why;
    }
  }
  const std::lock_guard lock(mutex_);
  budgets_ = std::make_shared<const BudgetUses>(std::move(budgets));
}

}  // namespace pennyweight
