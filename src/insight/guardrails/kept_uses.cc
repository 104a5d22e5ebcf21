#include "insight/guardrails/kept_uses.h"

namespace pennyweight::guardrails {

void KeptUses::fill_amount(std::optional<Money>& amount, const std::string& limit,
                           KeptAmounts& kept, Instant now) const {
  if (amount) {
    kept.insert_or_assign(limit, Kept{.amount = *amount, .measured_at = now});
    return;
  }
  const auto at = kept.find(limit);
  if (at == kept.end()) return;
  const Kept& known = at->second;
  if (now >= known.measured_at && now - known.measured_at <= age_max_) amount = known.amount;
}

void KeptUses::fill(std::vector<LimitUse>& uses, Instant now, Instant month) {
  if (month != month_) {
    spent_.clear();
    gpu_hours_.clear();
    month_ = month;
  }
  for (LimitUse& use : uses) {
    if (use.limit.per_month) fill_amount(use.spent, use.limit.name, spent_, now);
    if (use.limit.gpu_hours) fill_amount(use.gpu_hours, use.limit.name, gpu_hours_, now);
  }
}

void KeptBudgets::fill(std::vector<BudgetUse>& uses, Instant now, Date day) {
  if (day != day_) {
    kept_.clear();
    day_ = day;
  }
  for (BudgetUse& use : uses) {
    if (use.left) {
      kept_.insert_or_assign(use.name, Kept{.use = use, .measured_at = now});
    } else {
      fill_known(use, now);
    }
  }
  listed_ = uses;
  listed_at_ = now;
}

std::optional<std::vector<BudgetUse>> KeptBudgets::recall(const std::string& problem, Instant now,
                                                          Date day) const {
  if (day != day_ || !listed_at_ || !stands(*listed_at_, now)) return std::nullopt;
  std::vector<BudgetUse> uses = listed_;
  for (BudgetUse& use : uses) {
    use.left.reset();
    use.problem = problem;
    fill_known(use, now);
  }
  return uses;
}

void KeptBudgets::fill_known(BudgetUse& use, Instant now) const {
  const auto at = kept_.find(use.name);
  if (at == kept_.end()) return;
  const auto& [known, measured_at] = at->second;
  const bool is_same = known.amount == use.amount && known.scope == use.scope;
  if (is_same && stands(measured_at, now)) use.left = known.left;
}

}  // namespace pennyweight::guardrails
