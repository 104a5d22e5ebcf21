// Budgets from CSV: the plan that finance keeps in a spreadsheet.
//
//   name,filter,amount,amounts,owner,period,cost,from,to,roll_over,parent
//   nlp,team=nlp;cluster=a,5000 USD,2026-07-01 6000 USD;2027-01-01 7000 USD,ana,month,,,,,research
#pragma once

#include <string_view>
#include <vector>

#include "core/error.h"
#include "insight/budgets/budget.h"

namespace pennyweight {

// `name` and `amount` are required columns, others may be missing or empty; several filters are
// separated by ';', and so are the amounts of later days. An Error names the file, the lines and
// what is wrong with them: either all rows are sound or nothing is returned.
Result<std::vector<Budget>> parse_budget_csv(std::string_view text, std::string_view file);

}  // namespace pennyweight
