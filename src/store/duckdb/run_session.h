// A run into the DuckDB keeper: postings go straight into their table, within one transaction.
#pragma once

#include <memory>

#include "ledger/store.h"
#include "store/duckdb/session_lock.h"

namespace pennyweight {

// `database` and `open` outlive the session.
Result<std::unique_ptr<RunSession>> begin_duckdb_run(duckdb::Database& database, bool& open,
                                                     const Run& run);

// One that belongs to a claim: as Store::begin_claimed_run.
Result<std::unique_ptr<RunSession>> begin_duckdb_run(duckdb::Database& database, bool& open,
                                                     const Run& run, const WorkClaim& claim,
                                                     const WorkDone& done);

// "r.cluster, r.month, …": what run_of reads.
inline constexpr const char* kRunColumns =
    "cluster, month, number, policy, policy_version, catalog_version, time_zone, program_version, "
    "made_at, postings_digest, postings, is_current, dimensions_digest";
Run run_of(const duckdb::Rows& chunk, std::uint64_t row);

// From rows of workload, dimension and value, by workload. A workload without dimensions stands
// there with an empty one.
Result<std::vector<WorkloadDimensions>> dimensions_of_rows(Result<duckdb::Rows> rows);

}  // namespace pennyweight
