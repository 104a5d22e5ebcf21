// An import into the ClickHouse store.
//
// Rows go straight into the tables, in large blocks and under a session that nobody sees. commit()
// holds them against the ledger (import_settling.h) before it takes a turn, so that writers wait
// for one another only while the entry is written; where another import or a closing came between,
// it does so again within the turn. A session that is not committed leaves rows that never count.
#pragma once

#include <memory>

#include "ledger/store.h"
#include "ledger/store/clickhouse/database.h"

namespace pennyweight {

// `database` and `open` outlive the session.
Result<std::unique_ptr<ImportSession>> begin_clickhouse_import(ClickhouseDatabase& database,
                                                               bool& open,
                                                               const ImportSource& source);

}  // namespace pennyweight
