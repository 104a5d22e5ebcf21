// Claims, plans and completions in the ledger file.
//
// Only one process can have the file open, so it is the only worker: any other open claim is of a
// process that is gone. Claims are recorded nevertheless, so that a run of an older claim is
// refused, and so that people see who allocated what.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/duckdb/database.h"
#include "core/error.h"
#include "ledger/work.h"

namespace pennyweight {

// As in Store. Functions that write need the caller's transaction.
Result<WorkRecords> read_work_records(duckdb::Connection& connection);
Result<std::vector<InvalidatedScope>> invalidated_since(duckdb::Connection& connection,
                                                        std::uint64_t after);
Result<std::optional<WorkClaim>> claim_work(duckdb::Connection& connection,
                                            const ClaimRequest& request);
Result<void> record_heartbeat(duckdb::Connection& connection, const WorkClaim& claim, Instant at,
                              bool over);
Result<void> save_plan(duckdb::Connection& connection, const WorkPlan& plan);

// For a run's session: checks that a run of the claim may be kept, when the scope's current run is
// `current` (0: none); and records that it was.
Result<void> check_claim(duckdb::Connection& connection, const WorkClaim& claim,
                         std::uint64_t current);
Result<void> save_completion(duckdb::Connection& connection, const WorkCompletion& done,
                             std::uint64_t run);

// For an import's session.
Result<void> save_invalidations(duckdb::Connection& connection, std::uint64_t import,
                                std::span<const Invalidation> invalidations);

}  // namespace pennyweight
