// A run into the ClickHouse store: postings go straight into their table, in large blocks and
// under a session that nobody sees until the run is committed.
//
// What is kept of the current run passes through the program, which is held against the run's
// digest on the way: so every block can be sent again until it certainly arrived, which an INSERT
// of a SELECT can't.
#pragma once

#include <memory>

#include "ledger/store.h"
#include "ledger/store/clickhouse/database.h"

namespace pennyweight {

// `database` and `open` outlive the session. An Error where the month of its scope is closed.
Result<std::unique_ptr<RunSession>> begin_clickhouse_run(ClickhouseDatabase& database, bool& open,
                                                         const Run& run);

// One that belongs to a claim: as Store::begin_claimed_run.
Result<std::unique_ptr<RunSession>> begin_clickhouse_run(ClickhouseDatabase& database, bool& open,
                                                         const Run& run, const WorkClaim& claim,
                                                         const WorkCompletion& done);

}  // namespace pennyweight
