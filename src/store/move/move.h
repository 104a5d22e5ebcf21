// Move: a whole ledger from one keeper to another, held to be the same before anybody can open it.
//
// Copied is what tables hold, as it is, so whatever a ledger can be asked, both answer alike. It
// can be ended at any moment, by kill -9 too; the next move_ledger() of the same source and target
// goes on from what has arrived. At the end all that the target holds is read back and compared
// with what was read of the source: the number of rows, the sum of their fingerprints, the sum of
// each column, with ==. What differs is told, and the target stays closed.
//
// Memory does not grow with the ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "store/move/ends.h"

namespace pennyweight::move {

// How far it is; told often.
struct MoveProgress {
  enum class Phase { kCopying, kReadingBack };
  Phase phase = Phase::kCopying;
  std::string table;
  std::uint64_t rows = 0;      // of all tables, so far
  std::uint64_t rows_all = 0;  // as far as is known
  std::uint64_t found = 0;     // what an earlier attempt had copied
};
using MoveListener = std::function<void(const MoveProgress&)>;

struct MovedRows {
  const MovedTable* table = nullptr;
  Tally source, target;
};

struct MoveOutcome {
  std::vector<MovedRows> tables;         // as moved_tables()
  std::vector<std::string> differences;  // sentences; the target is no ledger where there are some
  std::uint64_t found = 0;               // rows that an earlier attempt had copied
  // The target had been found to be right by an earlier attempt, and was only put in its place;
  // `tables` is empty.
  bool was_whole = false;
};

// An Error where something can't be read or written, where the target was begun from another
// ledger, or where the source has grown while it was read back; doing it again goes on.
Result<MoveOutcome> move_ledger(Source& source, Target& target, const MoveListener& listener);

// Two ledgers beside each other, by all that they hold; nothing is changed. Stops at the first
// table that differs.
Result<MoveOutcome> compare_ledgers(Source& source, Source& target, const MoveListener& listener);

}  // namespace pennyweight::move
