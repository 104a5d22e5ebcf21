// Claims, plans and done records on ClickHouse, where several workers have the ledger at once.
//
// A claim is an entry of the log, so claims and runs have one order, and of two who want a scope
// one gets it. A done record is a row of the session of its run; where the run was the same as the
// current one it has an entry of its own. Signs of life and plans are plain rows: a sign only tells
// others when they may try, and a plan is true whoever wrote it, since it says what follows from
// facts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/error.h"
#include "ledger/work.h"
#include "store/clickhouse/database.h"
#include "store/clickhouse/scan.h"
#include "store/clickhouse/snapshot.h"

namespace pennyweight {

inline constexpr const char* kClaimEntry = "claim";
inline constexpr const char* kDoneEntry = "done";

// As Store has them. `open`: whether a session is open in the store.
Result<WorkBook> clickhouse_work(const Scan& scan);
Result<std::vector<Touched>> clickhouse_touched(const Scan& scan, std::uint64_t after);
Result<std::optional<WorkClaim>> claim_clickhouse_work(ClickhouseDatabase& database, bool& open,
                                                       const ClaimAsked& asked);
Result<void> sign_clickhouse_work(ClickhouseDatabase& database, const WorkClaim& claim, Instant at,
                                  bool over);
Result<void> keep_clickhouse_plan(ClickhouseDatabase& database, const WorkPlan& plan);

// Of a run's session, under its turn: whether a run of the claim may be kept, where the scope's
// current run is `current` (0: none); and the row that tells of it, under the session.
Result<void> check_clickhouse_claim(ClickhouseDatabase& database, const Snapshot& ledger,
                                    const WorkClaim& claim, std::uint64_t current);
Result<void> write_done(ClickhouseDatabase& database, std::uint64_t session, const WorkDone& done,
                        std::uint64_t run);

// Of an import's session.
Result<void> write_touched(ClickhouseDatabase& database, std::uint64_t session, Instant at,
                           std::span<const TouchedPlace> places);

}  // namespace pennyweight
