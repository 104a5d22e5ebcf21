// What becomes of staged facts: new, there already, or in conflict. In SQL, within the transaction
// of the import.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "duckdb/database.h"
#include "ledger/store.h"

namespace pennyweight {

struct SettleOrder {
  std::uint64_t import = 0;             // the import's number
  std::uint64_t staged_rows = 0;        // in the staged table
  std::string file;                     // for conflict rows
  std::uint64_t conflict_rows_max = 0;  // how many conflicts are described; all are counted
};

struct Settled {
  FactCounts counts;
  std::vector<RejectedRow> conflict_rows;  // by part of the keys, then id
};

// Facts are judged in parts of this many staged rows, cut by their keys, so that the joins of any
// import fit the engine's memory limit. Facts that can meet have one key, hence one part.
inline constexpr std::uint64_t kSettledTogether = 500'000;

// The name of the temporary table of a fact's kind.
template <class Fact>
std::string staged_table();

Result<Settled> settle_charges(duckdb::Connection& connection, const SettleOrder& order);
// REQUIRES: Fact is any other than Charge.
template <class Fact>
Result<Settled> settle_keyed(duckdb::Connection& connection, const SettleOrder& order);

}  // namespace pennyweight
