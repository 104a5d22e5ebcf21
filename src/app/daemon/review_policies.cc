#include "app/daemon/review_policies.h"

#include <chrono>

#include "config/guardrail_config.h"
#include "core/week_hours.h"
#include "insight/queries/limit_query.h"

namespace pennyweight {

ReviewPolicies::ReviewPolicies(const Config& config, const Catalog& catalog,
                               guardrails::ApprovalDesk& approvals, const LimitWatch& limits,
                               Clock& clock)
    : config_(config),
      catalog_(catalog),
      offers_(catalog),
      looks_at_hours_(guardrails::looks_at_hours(config.guardrails->rules)),
      approvals_(approvals),
      limits_(limits),
      clock_(clock) {}

ReviewPolicies::Current ReviewPolicies::current() const {
  const Instant now = clock_.now();
  Current current{.policy = {.rules = config_.guardrails->rules,
                             .catalog = catalog_,
                             .pricing = config_.guardrails->pricing,
                             .approvals = &approvals_,
                             .offers = &offers_},
                  .today = std::chrono::floor<std::chrono::days>(now),
                  .limits = limits_.uses(),
                  .budgets = limits_.budgets()};
  guardrails::AdmissionPolicy& policy = current.policy;
  policy.pricing.at = now;
  policy.limits = *current.limits;
  if (!policy.limits.empty()) policy.month_left_ms = month_left_ms(now, config_.policy);
  if (looks_at_hours_) policy.now = wall_time(now, config_.policy.time_zone);
  policy.budgets = current.budgets->uses;
  policy.budgets_problem = current.budgets->problem;
  policy.charging = &config_.policy;
  return current;
}

}  // namespace pennyweight
