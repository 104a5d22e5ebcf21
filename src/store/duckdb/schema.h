// The tables of a ledger file, and the check that a file is one.
#pragma once

#include <string>

#include "core/error.h"
#include "duckdb/database.h"

namespace pennyweight {

// Raised with every change that an older program could not read.
inline constexpr std::uint64_t kSchemaVersion = 5;

// The tables of work that programs share: claims, plans, done records, and what imports touched.
inline constexpr const char* kWorkTables = R"sql(
CREATE TABLE import_touches (
  import_number UBIGINT, touched VARCHAR, cluster VARCHAR, day DATE);
CREATE TABLE work_claims (
  number UBIGINT, cluster VARCHAR, month VARCHAR, worker VARCHAR, claimed_at TIMESTAMP_MS,
  lease_ms UBIGINT, run UBIGINT, signs UBIGINT, last_sign TIMESTAMP_MS, given_back BOOLEAN);
CREATE TABLE work_done (
  claim UBIGINT, cluster VARCHAR, month VARCHAR, run UBIGINT, imports UBIGINT, lines UUID,
  join_rules UUID, elsewhere UUID, began_at TIMESTAMP_MS, done_at TIMESTAMP_MS);
CREATE TABLE work_plans (
  month VARCHAR, imports UBIGINT, join_rules UUID, began_at TIMESTAMP_MS,
  planned_at TIMESTAMP_MS);
CREATE TABLE work_plan_scopes (
  month VARCHAR, cluster VARCHAR, line_count UBIGINT, lines UUID, reach_from TIMESTAMP_MS,
  reach_to TIMESTAMP_MS);
)sql";

// Makes the tables of an empty file; brings those of an earlier version to this one; refuses a file
// of something else, or of a newer version.
Result<void> prepare_schema(duckdb::Connection& connection, bool read_only);

}  // namespace pennyweight
