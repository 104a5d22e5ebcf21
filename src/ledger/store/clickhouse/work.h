// Claims, plans and done records on ClickHouse, where several workers have the ledger at once.
//
// A claim is an entry of the commit log, so claims and runs have one order, and of two workers that
// want a scope one gets it. A completion is a row of its run's session; if the run was the same as
// the current one, the completion has an entry of its own. Heartbeats and plans are rows without an
// entry: a heartbeat only tells others when they may try, and a plan follows from the facts, so it
// is the same from any writer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/error.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/scan.h"
#include "ledger/store/clickhouse/snapshot.h"
#include "ledger/work.h"

namespace pennyweight {

inline constexpr const char* kClaimEntry = "claim";
inline constexpr const char* kDoneEntry = "done";

// As in Store. `open`: whether a session is open in the store.
Result<WorkRecords> read_clickhouse_work(const Scan& scan);
Result<std::vector<InvalidatedScope>> clickhouse_invalidated_scopes(const Scan& scan,
                                                                    std::uint64_t after);
Result<std::optional<WorkClaim>> claim_clickhouse_work(ClickhouseDatabase& database, bool& open,
                                                       const ClaimRequest& request);
Result<void> record_clickhouse_heartbeat(ClickhouseDatabase& database, const WorkClaim& claim,
                                         Instant at, bool over);
Result<void> save_clickhouse_plan(ClickhouseDatabase& database, const WorkPlan& plan);

// For a run's session that holds its turn: checks that a run under `claim` may be kept, when the
// scope's current run is `current` (0: none); and writes the completion as a row of the session.
Result<void> check_clickhouse_claim(ClickhouseDatabase& database, const Snapshot& ledger,
                                    const WorkClaim& claim, std::uint64_t current);
Result<void> write_completion(ClickhouseDatabase& database, std::uint64_t session,
                              const WorkCompletion& done, std::uint64_t run);

// Writes the invalidations of an import's session.
Result<void> write_invalidations(ClickhouseDatabase& database, std::uint64_t session, Instant at,
                                 std::span<const Invalidation> invalidations);

}  // namespace pennyweight
