// Claims, plans and done records in the ledger file.
//
// One process has the file, so whoever has it open is the only one who works: a claim that is not
// over is of a process that is gone. Claims are kept nevertheless, since a run of an older one must
// not be kept, and so that people see who divided what.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/error.h"
#include "duckdb/database.h"
#include "ledger/work.h"

namespace pennyweight {

// As Store has them; those that write, within a transaction of the caller's.
Result<WorkBook> work_of(duckdb::Connection& connection);
Result<std::vector<Touched>> touched_since(duckdb::Connection& connection, std::uint64_t after);
Result<std::optional<WorkClaim>> claim_work(duckdb::Connection& connection,
                                            const ClaimAsked& asked);
Result<void> sign_work(duckdb::Connection& connection, const WorkClaim& claim, Instant at,
                       bool over);
Result<void> keep_plan(duckdb::Connection& connection, const WorkPlan& plan);

// Of a run's session: whether a run of the claim may be kept, where the scope's current run is
// `current` (0: none); and that it was.
Result<void> check_claim(duckdb::Connection& connection, const WorkClaim& claim,
                         std::uint64_t current);
Result<void> keep_done(duckdb::Connection& connection, const WorkDone& done, std::uint64_t run);

// Of an import's session.
Result<void> keep_touched(duckdb::Connection& connection, std::uint64_t import,
                          std::span<const TouchedPlace> places);

}  // namespace pennyweight
