// The checks of `pennyweight doctor`: what was checked, what was found, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

enum class FindingLevel { kOk, kNote, kProblem };

struct Finding {
  FindingLevel level;
  std::string subject;  // "ledger"
  std::string found;    // "pennyweight.duckdb, 12 MB: 3,120 bill lines …"
  std::string advice;   // what to do; may be empty
};

// Checks imports and what they set aside; clusters with holdings but no nodes; months whose charges
// have no cluster, were never allocated, or were allocated under other rules or before the last
// import; closed months.
Result<std::vector<Finding>> check_ledger(Store& store, const Config& config,
                                          const Catalog& catalog);

// Checks the configured pricing files: rate card, owned machines and their energy, exchange rates;
// and lists the configured defaults and rules for bills. Empty where nothing is configured.
std::vector<Finding> check_pricing(const Config& config);

Finding check_catalog(const Catalog& catalog);
Finding check_time_zones(const Config& config);

}  // namespace pennyweight
