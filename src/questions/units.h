// What did a request, a million tokens or a training job cost?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/store.h"
#include "policy/policy.h"
#include "report/table.h"

namespace pennyweight {

struct UnitQuestion {
  std::string month = {};                  // of the accounts; empty: all
  std::string by = "team";                 // a dimension, workload, cluster, or a label of outcomes
  std::vector<std::string> measures = {};  // what is counted; empty: all there are
  std::uint64_t per = 0;  // outcomes that a cost is for; 0: as usual for the measure
  bool jobs = false;      // each job over all of its attempts, useful and lost
  std::uint64_t top = 0;  // rows; 0: all
  int digits = 18;        // of unit costs
  // Only workloads that these let through, and what was counted of them. Empty: everything.
  // REQUIRES: what they filter by is the same for all postings of a workload.
  std::vector<SummaryFilter> scope = {};
};

// The words of a question, before the ledger is opened. An Error of kBadValue says what is wrong.
Result<void> check_units(const UnitQuestion& question, const Policy& policy);

// An Error of kNotFound where nothing is allocated, or nothing was counted; one of kBadValue where
// nothing counts a measure that is asked for. Of jobs no table where none was charged.
// REQUIRES: check_units() has passed.
Result<std::vector<Table>> ask_units(Store& store, const UnitQuestion& question,
                                     const Policy& policy);

}  // namespace pennyweight
