// The tables of a ledger file, and the check that a file is one.
#pragma once

#include <string>

#include "core/duckdb/database.h"
#include "core/error.h"

namespace pennyweight {

// Raised with every change that an older program could not read.
inline constexpr std::uint64_t kSchemaVersion = 6;

// "CREATE TABLE …;" of the table of retired charges, and of the tables of work that programs share:
// claims, completions, plans, and what imports invalidated. New ledgers and upgraded ones have
// them.
std::string create_retired_charges();
std::string create_work_tables();
// "row_id UUID, …": the columns of rejected_rows, and of the rows that an import stages for it.
std::string rejected_row_definition();

// Makes the tables of an empty file; brings those of an earlier version to this one; refuses a file
// of something else, or of a newer version.
Result<void> prepare_schema(duckdb::Connection& connection, bool read_only);

}  // namespace pennyweight
