// UsageKeys: which rows of a collector the ledger certainly does not have, so that they go straight
// into their table.
//
// Nearly all of them are new. Staging them first, and comparing the staged rows with the ledger's,
// costs more than writing them. Rows of one key have one time, so the keys of the ledger's rows of
// that time decide.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/duckdb/database.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/instant.h"
#include "ledger/usage.h"

namespace pennyweight {

class UsageKeys {
 public:
  // Whether a collector wrote the row. It gives each a part number of its own, so that two rows of
  // one import hardly ever contend for one key; where they do, the import decides which counts, as
  // of rows from elsewhere.
  static bool is_of_collector(const Usage& usage) { return usage.span_ms > 0 && usage.part > 0; }

  // Reads the keys of the ledger's rows of the times of the collector's rows among these. Each time
  // is read once.
  Result<void> read_times_of(duckdb::Database& database, std::span<const Usage> usages);

  // Whether no row of the ledger, and none that was added, has the key; it is added then. REQUIRES:
  // its time was read. False also where the ledger has more rows of these times than are kept.
  bool add_if_new(const Hash128& key);

 private:
  Result<void> read(duckdb::Database& database, Instant first, Instant last);
  bool insert(const Hash128& key);
  void grow();

  // Open addressing, at most half full; Hash128{} is an empty place.
  std::vector<Hash128> places_;
  std::size_t count_ = 0;
  bool is_full_ = false;
  std::optional<Instant> first_, last_;  // the times that were read
};

}  // namespace pennyweight
