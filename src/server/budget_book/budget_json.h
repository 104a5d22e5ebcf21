// A budget as JSON: what the API takes and gives, and what the book of budgets keeps.
//
//   {"name": "nlp", "owner": "ana", "filter": ["team=nlp"], "amount": "5000 USD", "period":
//   "month"}
//
// The keys are those of `budgets:` in the configuration.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "insight/budgets/budget.h"

namespace pennyweight {

std::string budget_json(const Budget& budget);
// "2026-07-01 3500 USD; 2027-01-01 4000 USD" as the value of `amounts`. What is wrong with it,
// parse_budget_json() says.
std::string amounts_json(std::string_view text);
// Checked as a budget of the configuration is. An Error of kBadValue names the key that is wrong;
// keys that a budget does not have are refused. `name`: of a budget that says none.
Result<Budget> parse_budget_json(std::string_view json, std::string_view name = {});

}  // namespace pennyweight
