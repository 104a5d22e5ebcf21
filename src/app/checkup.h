// The findings of `doctor`: what was looked at, what was found, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "core/error.h"
#include "ledger/store.h"
#include "pricing/catalog.h"

namespace pennyweight {

enum class Verdict { kFine, kNote, kWrong };

struct Finding {
  Verdict verdict;
  std::string what;    // "ledger"
  std::string found;   // "pennyweight.duckdb, 12 MB: 3,120 bill lines …"
  std::string advice;  // what to do; empty where nothing is
};

// Imports and what they kept aside; clusters with holdings and no nodes; months whose bill lines
// have no cluster, were never allocated, or were allocated under other rules or before the last
// import; months that are closed.
Result<std::vector<Finding>> check_ledger(Store& store, const Config& config,
                                          const Catalog& catalog);

// Whether what the configuration names for pricing can be read, and what it holds: rate card, owned
// machines and their energy, exchange rates; and the defaults and rules that it has for bills.
// Nothing is found where nothing is configured.
std::vector<Finding> check_pricing(const Config& config);

Finding check_catalog(const Catalog& catalog);
Finding check_time_zones(const Config& config);

}  // namespace pennyweight
