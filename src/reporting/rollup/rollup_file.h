// The rollup's file: its tables, and how a scope's sums get into them.
//
//   kept         one row: the format's mark, the version, whether the ledger was copied once
//   scopes       a row for each cluster and month, with the run whose sums it has
//   texts, facets, places, sets, dimensions, workloads    the dictionary (dictionary.h)
//   all_day, …   the grains (grain.h)
//
// Each version is written in one transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/duckdb/database.h"
#include "core/error.h"
#include "ledger/store.h"
#include "reporting/rollup/rollup_state.h"

namespace pennyweight::rollup {

// Creates the tables of an empty rollup. `version` must be larger than any of an earlier file.
Result<void> make_tables(duckdb::Connection& connection, std::uint64_t version);
// Whether the file has our tables, written by this version of the program.
Result<bool> has_our_tables(duckdb::Connection& connection);
Result<RollupState> load_state(duckdb::Connection& connection);

// Copies one scope from the ledger. After a failure the file is unchanged.
class ScopeWriter {
 public:
  // commit() updates `state`. Both must outlive the writer.
  ScopeWriter(duckdb::Connection& connection, RollupState& state)
      : connection_(connection), state_(state) {}

  // Replaces the sums of a scope by those of its current run.
  Result<void> replace(Store& store, const Run& run);
  Result<void> remove(const Scope& scope);
  Result<void> set_complete();

 private:
  Result<void> begin();
  Result<void> commit();
  Result<void> abandon(Result<void> failed);
  Result<void> write_scope(Store& store, const Run& run);
  Result<void> drop_rows(Number scope);
  Result<void> copy_sums(Store& store, const Run& run);
  Result<void> write_names();
  Result<void> write_grains(Number scope);
  Result<void> add_dimensions(Number scope);
  Result<void> write_scopes();
  Result<void> count_rows();

  duckdb::Connection& connection_;
  RollupState& state_;
  // The sizes of the dictionary before.
  std::size_t texts_ = 0, facets_ = 0, places_ = 0, sets_ = 0, dimensions_ = 0;
  std::int32_t first_day_ = 0, last_day_ = -1;
};

}  // namespace pennyweight::rollup
