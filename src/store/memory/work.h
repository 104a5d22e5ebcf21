// Claims, plans and done records of the memory keeper.
#pragma once

#include <vector>

#include "core/error.h"
#include "ledger/work.h"
#include "store/memory/memory_book.h"

namespace pennyweight {

// As Store has them.
WorkBook work_of(const MemoryBook& book);
std::vector<Touched> touched_since(const MemoryBook& book, std::uint64_t after);
Result<std::optional<WorkClaim>> claim_work(MemoryBook& book, const ClaimAsked& asked);
void sign_work(MemoryBook& book, const WorkClaim& claim, Instant at, bool over);

// Whether a run of a claim may be kept; and that it was.
Result<void> check_claim(MemoryBook& book, const WorkClaim& claim);
void keep_done(MemoryBook& book, WorkDone done, std::uint64_t run);

}  // namespace pennyweight
