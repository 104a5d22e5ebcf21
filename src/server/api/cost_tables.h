// The tables of GET /costs, for all that sends them.
#pragma once

#include <cstddef>
#include <vector>

#include "core/error.h"
#include "reporting/queries/costs.h"
#include "reporting/table.h"
#include "server/api/scoped_queries.h"
#include "server/api/services.h"

namespace pennyweight::api {

// By currency. An Error of kUnsupported where there are more rows than `rows_max`.
Result<std::vector<Table>> cost_tables(const Services& services, const ScopedQueries& queries,
                                       const CostPlan& plan, std::size_t rows_max);

}  // namespace pennyweight::api
