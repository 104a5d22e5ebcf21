// Copies a whole ledger to another store, and verifies the copy before anybody can open it.
//
// The rows of the tables are copied as they are, so both ledgers answer every query alike. A move
// may be stopped at any moment, even by kill -9; the next move_ledger() of the same source and
// target continues. At the end everything is read back from the target and compared exactly with
// the source: the number of rows, the sum of their fingerprints and the sum of each column. If
// anything differs, that is reported and the target stays closed.
//
// Memory use doesn't grow with the ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/store/move/endpoints.h"

namespace pennyweight::move {

// How far a move has come; reported often.
struct MoveProgress {
  enum class Phase { kCopying, kReadingBack };
  Phase phase = Phase::kCopying;
  std::string table;
  std::uint64_t rows = 0;      // of all tables, so far
  std::uint64_t rows_all = 0;  // as far as known
  std::uint64_t found = 0;     // copied by an earlier attempt
};
using MoveListener = std::function<void(const MoveProgress&)>;

struct MovedRows {
  const MovedTable* table = nullptr;
  Tally source, target;
};

struct MoveOutcome {
  std::vector<MovedRows> tables;         // as moved_tables()
  std::vector<std::string> differences;  // sentences; if any, the target is not a ledger
  std::uint64_t found = 0;               // rows copied by an earlier attempt
  // An earlier attempt had verified the target, which was only renamed now; `tables` is empty.
  bool was_whole = false;
};

// Fails if something can't be read or written, if the target was begun from another ledger, or if
// the source grew during the verification. Calling it again continues.
Result<MoveOutcome> move_ledger(LedgerSource& source, LedgerTarget& target,
                                const MoveListener& listener);

// Compares all that two ledgers hold; changes nothing. Stops at the first table that differs.
Result<MoveOutcome> compare_ledgers(LedgerSource& source, LedgerSource& target,
                                    const MoveListener& listener);

}  // namespace pennyweight::move
