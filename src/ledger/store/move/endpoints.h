// LedgerSource and LedgerTarget: the two ends of a move.
//
// A ledger only grows, so the lengths of its lists (a Watermark) identify a state of it for ever.
// The rows between two watermarks are divided into pieces, always the same ones in the same order,
// so it is enough to know which pieces have arrived.
//
// Not thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/instant.h"
#include "ledger/store/move/page.h"
#include "ledger/store/move/tally.h"

namespace pennyweight::move {

// The length of each list of a ledger, by its name; lists without an entry are empty.
using Watermark = std::map<std::string, std::uint64_t>;

// A part of a table's rows between two watermarks.
struct TablePiece {
  const MovedTable* table = nullptr;
  std::uint64_t number = 0;  // 0, 1, … of this table, between these watermarks
  std::uint64_t rows = 0;    // as far as known beforehand
  std::string where = {};    // for its LedgerSource: a condition
};

// All commits in one order, in which imports, and the runs of a scope, are sorted by number.
struct LogEntry {
  EntryKind entry_kind = EntryKind::kImport;
  std::uint64_t number = 0;  // among entries of its kind: 1, 2, …
  Instant at = {};
};
using CommitHistory = std::vector<LogEntry>;

class LedgerSource {
 public:
  virtual ~LedgerSource() = default;
  virtual std::string name() const = 0;  // for messages; without passwords
  // The current state.
  virtual Result<Watermark> watermark() = 0;
  // A fingerprint of the history up to a watermark, which differs for every ledger.
  virtual Result<Hash128> print(const Watermark& to) = 0;
  virtual Result<CommitHistory> history(const Watermark& to) = 0;
  // The pieces of a table between two watermarks.
  virtual Result<std::vector<TablePiece>> pieces(const MovedTable& table, const Watermark& from,
                                                 const Watermark& to) = 0;
  // Reads the rows of a piece; from a file always in the same order.
  virtual Result<void> read(const TablePiece& piece, const PageSink& sink) = 0;
};

// A state of the source that a move copies up to.
struct CopyStage {
  Watermark to;
  Hash128 print;
};

struct PieceKey {
  std::uint64_t stage = 0;
  std::string table;
  std::uint64_t number = 0;
  auto operator<=>(const PieceKey&) const = default;
};

// How far an unfinished move has come, as stored in the target.
struct MoveState {
  std::vector<CopyStage> stages;
  std::map<PieceKey, Tally> arrived;
  // Everything has been verified, and only finish() is left.
  bool is_whole = false;
};

// A ledger under construction. Nobody can open it before finish().
class LedgerTarget {
 public:
  virtual ~LedgerTarget() = default;
  virtual std::string name() const = 0;
  // What an earlier attempt left; empty for a new move.
  virtual const MoveState& found() const = 0;

  virtual Result<void> begin_stage(std::uint64_t number, const CopyStage& stage) = 0;
  // Writes the rows of a piece, then their tally. A piece arrives as a whole or not at all, perhaps
  // some time after end_piece(), so an error may be about an earlier piece.
  virtual Result<void> begin_piece(const PieceKey& key, const MovedTable& table) = 0;
  virtual Result<void> add(const Page& page) = 0;
  virtual Result<void> end_piece(const Tally& tally) = 0;
  // Waits until all pieces have arrived.
  virtual Result<void> wait() = 0;

  // Reads all rows of a table, in any order. REQUIRES: no piece is being written.
  virtual Result<void> read(const MovedTable& table, const CommitHistory& history,
                            const PageSink& sink) = 0;
  // Makes it a ledger with this history. If it is whole already, only renames it.
  virtual Result<void> finish(const CommitHistory& history) = 0;
};

}  // namespace pennyweight::move
