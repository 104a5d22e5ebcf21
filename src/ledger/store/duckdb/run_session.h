// A run into the DuckDB store: postings go straight into their table, within one transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ledger/store.h"
#include "ledger/store/columns/columns.h"
#include "ledger/store/duckdb/session_lock.h"

namespace pennyweight {

// `database` and `open` outlive the session.
Result<std::unique_ptr<RunSession>> begin_duckdb_run(duckdb::Database& database, bool& open,
                                                     const Run& run);

// One that belongs to a claim: as Store::begin_claimed_run.
Result<std::unique_ptr<RunSession>> begin_duckdb_run(duckdb::Database& database, bool& open,
                                                     const Run& run, const WorkClaim& claim,
                                                     const WorkCompletion& done);

// A run, and its number in the file, over all scopes.
struct NumberedRun {
  std::uint64_t run_id = 0;
  RunRecord record = Table<RunRecord>::blank();
};
// "run_id, number, …": what read_runs reads.
std::string run_columns();
Result<std::vector<NumberedRun>> read_runs(Result<duckdb::Rows> rows);

// From rows of workload, dimension and value, by workload. A workload without dimensions stands
// there with an empty one.
Result<std::vector<WorkloadDimensions>> dimensions_of_rows(Result<duckdb::Rows> rows);

}  // namespace pennyweight
