// A ledger on ClickHouse as the target of a move, in its final database.
//
// The rows of an import or a run get a session number that is derived from the move's. A piece is
// sent as one block for each partition, one after the other, and then recorded in `moving`, so
// after kill -9 at most one block is in doubt. A single server takes a block as a whole or not at
// all, and its number of rows tells which; a cluster drops a block that is sent again.
//
// The commit log stays empty until the end, and is then written by one insert.
#pragma once

#include <memory>

#include "ledger/store/move/clickhouse_location.h"
#include "ledger/store/move/endpoints.h"

namespace pennyweight::move {

// Whether there is a ledger already.
Result<bool> is_clickhouse_ledger(const ClickhouseLocation& place);

// Creates the tables, or continues with those of an earlier attempt. Fails if the database holds
// something else, or if another move into it is under way. REQUIRES: it is not a ledger; the source
// always returns the rows of a piece in the same order.
Result<std::unique_ptr<LedgerTarget>> open_clickhouse_target(const ClickhouseLocation& place);

}  // namespace pennyweight::move
