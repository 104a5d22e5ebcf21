// A ledger in a DuckDB file that is being made beside its place: "<path>.moving" until it is whole.
// Each piece is a transaction, which writes down that it is there; so what is in the file after
// kill -9 is known.
#pragma once

#include <memory>
#include <string>

#include "store/move/duckdb_source.h"
#include "store/move/ends.h"

namespace pennyweight::move {

// REQUIRES: nothing is at `place.path`. Makes the file beside it, or goes on with the one that an
// earlier attempt left; an Error where somebody else has that open.
Result<std::unique_ptr<Target>> open_duckdb_target(const DuckdbPlace& place);

}  // namespace pennyweight::move
