// A ledger in a DuckDB file as the target of a move. The file is "<path>.moving" until it is whole.
// Each piece is a transaction that also records the piece's arrival, so even after kill -9 the file
// says what it has.
#pragma once

#include <memory>
#include <string>

#include "ledger/store/move/duckdb_source.h"
#include "ledger/store/move/endpoints.h"

namespace pennyweight::move {

// REQUIRES: nothing is at `place.path`. Creates "<path>.moving", or continues with the one of
// an earlier attempt. Fails if another program has that open.
Result<std::unique_ptr<LedgerTarget>> open_duckdb_target(const DuckdbLocation& place);

}  // namespace pennyweight::move
