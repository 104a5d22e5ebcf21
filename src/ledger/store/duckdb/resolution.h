// Decides which staged facts are new, which the ledger has already, and which are in conflict. In
// SQL, within the import's transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/duckdb/database.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct ResolutionRequest {
  std::uint64_t import = 0;                       // the import's number
  std::uint64_t staged_rows = 0;                  // in the staged table
  std::string file;                               // for conflict rows
  DeliveryStyle style = DeliveryStyle::kGuarded;  // of charges
  std::uint64_t conflict_rows_max = 0;  // how many conflicts are described; all are counted
};

struct Resolution {
  FactCounts counts;
  std::vector<RejectedRow> conflict_rows;  // by part of the keys, then id
  std::uint64_t late = 0;                  // among the created: booked in another month
};

// For replacements: what to do with ledger lines of the delivered scopes that the delivery lacks.
struct ReplacementRequest {
  std::uint64_t import = 0;
  std::uint64_t staged_rows = 0;
  std::span<const std::string> also_replaced;                 // scopes that no delivered charge has
  std::function<std::string(const std::string&)> open_month;  // the first from a month on
};

// Facts are resolved in parts of about this many staged rows, divided by key, so that the joins of
// any import fit the engine's memory limit. Facts with equal keys are in the same part.
inline constexpr std::uint64_t kRowsPerKeyRange = 500'000;

// The name of the temporary table of a fact's kind.
template <class Fact>
std::string staged_table();

Result<Resolution> resolve_charges(duckdb::Connection& connection, const ResolutionRequest& order);
// REQUIRES: the staged charges are resolved.
Result<Restated> retire_left_out(duckdb::Connection& connection, const ReplacementRequest& order);
// Moves the rows that this import wrote into the usages' own table back among the staged ones where
// a staged row has their key, so that the content, not the order, decides which of them counts. How
// many were moved. REQUIRES: rows of one import have been written to both tables.
Result<std::uint64_t> stage_contended_usages(duckdb::Connection& connection, std::uint64_t import);
// REQUIRES: Fact is any other than Charge.
template <class Fact>
Result<Resolution> resolve_keyed_facts(duckdb::Connection& connection,
                                       const ResolutionRequest& order);

}  // namespace pennyweight
