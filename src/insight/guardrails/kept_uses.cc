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
      continue;
    }
    const auto at = kept_.find(use.name);
    if (at == kept_.end()) continue;
    const auto& [known, measured_at] = at->second;
    const bool is_same = known.amount == use.amount && known.scope == use.scope;
    if (is_same && now >= measured_at && now - measured_at <= age_max_) use.left = known.left;
  }
}

}  // namespace pennyweight::guardrails
