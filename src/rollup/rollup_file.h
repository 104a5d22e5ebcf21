// The rollup's file: its tables, and how a scope's sums get into them.
//
//   kept         what the file is: its mark, version, and whether the ledger was copied once
//   scopes       a row for each cluster and month, with the run whose sums are kept
//   texts, facets, places, sets, dimensions, workloads    what numbers stand for (names.h)
//   all_day, …   the grains (grain.h)
//
// Whatever belongs to one version is written in one transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/error.h"
#include "duckdb/database.h"
#include "ledger/store.h"
#include "rollup/state.h"

namespace pennyweight::rollup {

// Makes the tables where there are none. `version` is that of an empty rollup, larger than any that
// an earlier file had.
Result<void> make_tables(duckdb::Connection& connection, std::uint64_t version);
// Whether the tables are ours and of this version of the program.
Result<bool> has_our_tables(duckdb::Connection& connection);
Result<State> load_state(duckdb::Connection& connection);

// Copies scopes out of the ledger. An object of its own for each; what failed left nothing behind.
class ScopeWriter {
 public:
  // `state` becomes that after commit(). Both outlive the writer.
  ScopeWriter(duckdb::Connection& connection, State& state)
      : connection_(connection), state_(state) {}

  // Puts the sums of a scope's current run in the place of those that are there.
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
  State& state_;
  // How many of the names were there before.
  std::size_t texts_ = 0, facets_ = 0, places_ = 0, sets_ = 0, dimensions_ = 0;
  std::int32_t first_day_ = 0, last_day_ = -1;
};

}  // namespace pennyweight::rollup
