// KeptUses and KeptBudgets: what was measured of limits and budgets lately. It stands in where a
// measurement fails, so that a ledger that is busy for a while does not stop new work.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/instant.h"
#include "core/money.h"
#include "insight/guardrails/rule_context.h"
#include "insight/guardrails/usage_limit.h"

namespace pennyweight::guardrails {

class KeptUses {
 public:
  // What was measured longer ago says nothing of now.
  explicit KeptUses(std::chrono::seconds age_max) : age_max_(age_max) {}

  // Fills in what `uses` lack, and remembers what they have. Their problems stay. `month`: when the
  // month of `now` begins; what is known of another month is forgotten.
  void fill(std::vector<LimitUse>& uses, Instant now, Instant month);

 private:
  struct Kept {
    Money amount;
    Instant measured_at;
  };
  using KeptAmounts = std::map<std::string, Kept>;  // by the names of limits
  void fill_amount(std::optional<Money>& amount, const std::string& limit, KeptAmounts& kept,
                   Instant now) const;

  std::chrono::seconds age_max_;
  Instant month_ = {};
  KeptAmounts spent_;
  KeptAmounts gpu_hours_;
};

class KeptBudgets {
 public:
  explicit KeptBudgets(std::chrono::seconds age_max) : age_max_(age_max) {}

  // As KeptUses, for what budgets of the same name, amount and scope have left. What is known of
  // another day is forgotten.
  void fill(std::vector<BudgetUse>& uses, Instant now, Date day);
  // Where not even the budgets can be listed: those of the last fill(), with the problem, and with
  // what is known of them. Nothing: that was too long ago, or on another day.
  std::optional<std::vector<BudgetUse>> recall(const std::string& problem, Instant now,
                                               Date day) const;

 private:
  struct Kept {
    BudgetUse use;
    Instant measured_at;
  };

  bool stands(Instant measured_at, Instant now) const {
    return now >= measured_at && now - measured_at <= age_max_;
  }
  void fill_known(BudgetUse& use, Instant now) const;

  std::chrono::seconds age_max_;
  Date day_ = {};
  std::map<std::string, Kept> kept_;  // by the names of budgets
  std::vector<BudgetUse> listed_;     // as they last were
  std::optional<Instant> listed_at_ = {};
};

}  // namespace pennyweight::guardrails
