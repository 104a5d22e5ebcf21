// The arithmetic of a budget in sentences: what it allows, what was spent, what is to come.
#pragma once

#include <string>
#include <vector>

#include "insight/budgets/budget.h"

namespace pennyweight {

// In the order in which they follow from each other; one of them names the command that sums up the
// same costs. Amounts are rounded to two digits. Nothing of one that could not be measured, whose
// problem says why.
std::vector<std::string> explain_budget(const BudgetStatus& status, Date today);

}  // namespace pennyweight
