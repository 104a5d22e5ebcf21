// A ledger on ClickHouse that is being made, in the database that is to be the ledger.
//
// Rows of an import or a run carry a session that follows from the move's own number. A piece is
// sent as one block a partition, one after the other, and then written down in `moving`; so after
// kill -9 at most one block is in doubt. One server takes a block whole or not at all, and how many
// rows its table has says which; a cluster takes the same block again once.
//
// What nobody may see before the end is the log: it is written in one go when all is there.
#pragma once

#include <memory>

#include "store/move/clickhouse_place.h"
#include "store/move/ends.h"

namespace pennyweight::move {

// Whether there is a ledger already.
Result<bool> is_clickhouse_ledger(const ClickhousePlace& place);

// Makes the tables, or goes on with those that an earlier attempt left. An Error where the database
// holds something else, or another move into it is under way. REQUIRES: it is no ledger; the source
// gives the rows of a piece always in the same order.
Result<std::unique_ptr<Target>> open_clickhouse_target(const ClickhousePlace& place);

}  // namespace pennyweight::move
