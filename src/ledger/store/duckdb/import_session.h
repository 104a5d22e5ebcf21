// An import into the DuckDB store.
//
// A delivery may have tens of millions of charges, so lines that are certainly new go straight into
// their table, within the session's transaction, and the engine writes them in compressed blocks.
// Lines that may be repeats, or may match a line of the ledger, are staged in a temporary table and
// resolved at commit() (resolution.h). Other facts are always staged. Memory is bounded by the
// engine's limit and the filter's 64 MiB; the rest is spilled to the temp directory.
#pragma once

#include <memory>

#include "ledger/store.h"
#include "ledger/store/duckdb/session_lock.h"

namespace pennyweight {

// `database` and `open` outlive the session.
Result<std::unique_ptr<ImportSession>> begin_duckdb_import(duckdb::Database& database, bool& open,
                                                           const ImportSource& source);

}  // namespace pennyweight
