// `budget set`, `remove`, `import` and `history`: the budgets that people set.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "insight/budgets/budget.h"

namespace pennyweight {

// Adds the subcommands to `budget`. What is returned runs the one that was given; nothing: none
// was.
std::function<std::optional<Result<ExitCode>>(Context&)> add_budget_changes(CLI::App& command);

// The budgets of the configuration and those that people have set.
Result<std::vector<Budget>> all_budgets(const Context& context);

}  // namespace pennyweight
