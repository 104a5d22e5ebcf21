// The replayed month as a ledger of its own: what `replay --out` writes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/what_if/what_if.h"
#include "ledger/charge.h"
#include "ledger/store.h"

namespace pennyweight {

// The month's bill lines with everything that the bill says, of which a replay keeps what costs
// need; by the half of their ids that the lines of added nodes share with those they are copied
// from.
using BillLines = std::unordered_map<std::uint64_t, Charge>;
Result<BillLines> read_bill_lines(Store& store, const std::string& month);

struct ReplayedLedger {
  const std::string& path;
  const std::string& month;
  const what_if::ReplayedMonth& facts;
  const BillLines& lines;
  const Policy& policy;  // by which it is divided
  const Catalog& catalog;
  unsigned threads;
  const Config& config;  // of the ledger that was replayed; join rules are the same
  Instant now;
};

// Before the replay. A usage error where a file is there already, as no ledger is written over, or
// where none can be written.
Result<void> check_new_ledger(const std::string& path);

// Likewise a usage error where charges are booked in the month though they are of another billing
// month: a ledger without closed months would book them there.
Result<void> check_booked_month(const std::string& month, std::span<const Charge> charges);

// Writes the facts and allocates them. The file gets its name when it is complete.
Result<void> write_replayed_ledger(const ReplayedLedger& ledger);

}  // namespace pennyweight
