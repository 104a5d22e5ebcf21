// What becomes of staged facts: new, there already, or in conflict. In SQL, within the transaction
// of the import.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "duckdb/database.h"
#include "ledger/store.h"

namespace pennyweight {

struct SettleOrder {
  std::uint64_t import = 0;                       // the import's number
  std::uint64_t staged_rows = 0;                  // in the staged table
  std::string file;                               // for conflict rows
  DeliveryStyle style = DeliveryStyle::kGuarded;  // of charges
  std::uint64_t conflict_rows_max = 0;  // how many conflicts are described; all are counted
};

struct Settled {
  FactCounts counts;
  std::vector<RejectedRow> conflict_rows;  // by part of the keys, then id
  std::uint64_t late = 0;                  // of what is created: booked in another month
};

// What a replacement does with the lines that it leaves out of its scopes, which stand in the
// temporary table delivered_scopes (scope VARCHAR).
struct ReplaceOrder {
  std::uint64_t import = 0;
  std::uint64_t staged_rows = 0;
  std::function<std::string(const std::string&)> open_month;  // the first from a month on
};

// Facts are judged in parts of this many staged rows, cut by their keys, so that the joins of any
// import fit the engine's memory limit. Facts that can meet have one key, hence one part.
inline constexpr std::uint64_t kSettledTogether = 500'000;

// The name of the temporary table of a fact's kind.
template <class Fact>
std::string staged_table();

Result<Settled> settle_charges(duckdb::Connection& connection, const SettleOrder& order);
// REQUIRES: the staged charges are settled.
Result<Restated> retire_left_out(duckdb::Connection& connection, const ReplaceOrder& order);
// REQUIRES: Fact is any other than Charge.
template <class Fact>
Result<Settled> settle_keyed(duckdb::Connection& connection, const SettleOrder& order);

}  // namespace pennyweight
