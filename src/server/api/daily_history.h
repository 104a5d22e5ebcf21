// Which days of costs a caller may take as complete, for forecasts, budgets and anomalies.
#pragma once

#include <optional>

#include "core/date.h"
#include "core/error.h"
#include "insight/queries/daily_costs.h"
#include "server/api/scoped_queries.h"

namespace pennyweight::api {

// Sets `today`, by default that of the clock. A user with a scope sees no costs of others, so what
// the ledger has tells them which days are complete, and a day without costs of theirs is a 0.
Result<void> set_known_days(const Services& services, const ScopedQueries& queries,
                            std::optional<Date> today, DailyCostQuery& query);

}  // namespace pennyweight::api
