// An import into the DuckDB keeper.
//
// Charges come by the ten million, so what certainly is a new line goes straight into its table,
// within the session's transaction; the engine writes it out in compressed blocks as it comes. What
// may be a repeat, or may meet a line of the ledger, is staged in a temporary table and judged at
// commit() (settle.h). Other facts are always staged. Memory is bounded by the engine's limit and
// the filter's 64 MiB; what does not fit is spilled to the temp directory.
#pragma once

#include <memory>

#include "ledger/store.h"
#include "store/duckdb/session_lock.h"

namespace pennyweight {

// `database` and `open` outlive the session.
Result<std::unique_ptr<ImportSession>> begin_duckdb_import(duckdb::Database& database, bool& open,
                                                           const ImportSource& source);

}  // namespace pennyweight
