// The tables of the accounts' file, and the steps from every version that was ever released.
#pragma once

#include "access/sqlite.h"
#include "core/error.h"

namespace pennyweight::access {

// Brings a file up to date, an empty one too, all of it or nothing. Refuses the file of another
// program, and one that a later pennyweight has brought up to date.
Result<void> bring_up_to_date(SqlDatabase& database);

}  // namespace pennyweight::access
