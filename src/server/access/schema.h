// The tables of the accounts file, and the migration from every released version.
#pragma once

#include "core/error.h"
#include "server/access/sqlite.h"

namespace pennyweight::access {

// Migrates a file, or an empty one, to the current version, completely or not at all. Refuses a
// file of another program, and one that a later pennyweight has migrated.
Result<void> migrate_schema(SqlDatabase& database);

}  // namespace pennyweight::access
