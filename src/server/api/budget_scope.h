// Which budgets a user sees and may change: those whose scope lies within the user's.
#pragma once

#include <vector>

#include "core/error.h"
#include "insight/budgets/budget.h"
#include "server/access/principal.h"
#include "server/api/services.h"

namespace pennyweight::api {

// Whether everything in the budget's scope is in the user's: for each of their dimensions the
// budget names some of their values and no others. True for users without a scope.
bool is_in_scope(const Budget& budget, const access::Principal& who, const Policy& policy);

// Whether it is of all that the user sees. REQUIRES: is_in_scope().
bool is_of_whole_scope(const Budget& budget, const access::Principal& who, const Policy& policy);

// Those of the configuration and those that people have set, which `who` may see. An Error where
// the book of budgets can't be read.
Result<std::vector<Budget>> visible_budgets(const Services& services, const access::Principal& who);

}  // namespace pennyweight::api
