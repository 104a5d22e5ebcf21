// Claims, plans and done records of the memory store.
#pragma once

#include <vector>

#include "core/error.h"
#include "ledger/work.h"
#include "testing/memory_store/memory_ledger.h"

namespace pennyweight {

// As in Store.
WorkRecords work_records_of(const MemoryLedger& ledger);
std::vector<InvalidatedScope> invalidated_since(const MemoryLedger& ledger, std::uint64_t after);
Result<std::optional<WorkClaim>> claim_work(MemoryLedger& ledger, const ClaimRequest& request);
void record_heartbeat(MemoryLedger& ledger, const WorkClaim& claim, Instant at, bool over);

// Checks whether a run of a claim may be kept, and records that it was.
Result<void> check_claim(MemoryLedger& ledger, const WorkClaim& claim);
void save_completion(MemoryLedger& ledger, WorkCompletion done, std::uint64_t run);

}  // namespace pennyweight
