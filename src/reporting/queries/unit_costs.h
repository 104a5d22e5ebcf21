// Queries unit costs: what a request, a million tokens or a training job cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

struct UnitCostQuery {
  std::string month = {};                  // the booked month; empty: all
  std::string by = "team";                 // a dimension, workload, cluster, or a label of outcomes
  std::vector<std::string> measures = {};  // empty: all there are
  std::uint64_t per = 0;                   // outcomes that a cost is for; 0: default_per()
  bool jobs = false;                       // each job over all of its attempts, instead
  std::uint64_t top = 0;                   // rows; 0: all
  int digits = 18;                         // of unit costs
  // Only workloads in this scope, and their outcomes. Empty: everything.
  // REQUIRES: all postings of a workload have equal values in the dimensions of the scope.
  std::vector<SummaryFilter> scope = {};
};

// Checks the query without the ledger. An Error of kBadValue says what is wrong.
Result<void> check_unit_cost_query(const UnitCostQuery& params, const Policy& policy);

// Errors: kNotFound where nothing is allocated or there are no outcomes, kBadValue where no outcome
// has a requested measure. No table where no job was charged.
// REQUIRES: check_unit_cost_query() has passed.
Result<std::vector<Table>> query_unit_costs(Store& store, const UnitCostQuery& params,
                                            const Policy& policy);

}  // namespace pennyweight
