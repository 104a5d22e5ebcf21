// The tables of a ledger file, and the check that a file is one.
#pragma once

#include <string>

#include "core/error.h"
#include "duckdb/database.h"

namespace pennyweight {

// Raised with every change that an older program could not read.
inline constexpr std::uint64_t kSchemaVersion = 4;

// Makes the tables of an empty file; brings those of an earlier version to this one; refuses a file
// of something else, or of a newer version.
Result<void> prepare_schema(duckdb::Connection& connection, bool read_only);

}  // namespace pennyweight
