// The replayed month as a ledger of its own: what `replay --out` writes.
#pragma once

#include <string>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/what_if/what_if.h"

namespace pennyweight {

struct ReplayedLedger {
  const std::string& path;
  const std::string& month;
  const what_if::ReplayedMonth& facts;
  const Catalog& catalog;
  unsigned threads;
  const Config& config;  // of the ledger that was replayed; policy and join rules are the same
  Instant now;
};

// A usage error where a file is there already: no ledger is written over.
Result<void> check_no_file(const std::string& path);

// Writes the facts and allocates them. The file gets its name when it is complete.
Result<void> write_replayed_ledger(const ReplayedLedger& ledger);

}  // namespace pennyweight
