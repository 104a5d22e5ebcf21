// Source and Target: the two ends of a move, and what they tell each other.
//
// A ledger only grows, so how far each of its lists goes names a state of it for ever (Extent).
// What is between two states is cut into pieces, the same ones in the same order whenever it is
// asked: so it is enough to know which pieces have arrived.
//
// Each is used by one thread at a time.
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
#include "store/move/page.h"
#include "store/move/tally.h"

namespace pennyweight::move {

// How far each list of a ledger goes, by the list's name; lists that are not named are empty.
using Extent = std::map<std::string, std::uint64_t>;

// Part of what a table holds between two extents.
struct Piece {
  const MovedTable* table = nullptr;
  std::uint64_t number = 0;  // 0, 1, … of this table, between these extents
  std::uint64_t rows = 0;    // that it has, as far as that is known beforehand
  std::string where = {};    // for its Source: a condition
};

// Everything that was ever committed, in one order: imports by number, runs of a scope by number.
struct Deed {
  Act act = Act::kImport;
  std::uint64_t number = 0;  // among those of its act: 1, 2, …
  Instant at = {};
};
using History = std::vector<Deed>;

class Source {
 public:
  virtual ~Source() = default;
  virtual std::string name() const = 0;  // for people, without passwords
  // What it holds now.
  virtual Result<Extent> extent() = 0;
  // A fingerprint of the history up to an extent: another ledger's differs.
  virtual Result<Hash128> print(const Extent& to) = 0;
  virtual Result<History> history(const Extent& to) = 0;
  // What came to a table between two extents.
  virtual Result<std::vector<Piece>> pieces(const MovedTable& table, const Extent& from,
                                            const Extent& to) = 0;
  // The rows of a piece; of a file always in the same order.
  virtual Result<void> read(const Piece& piece, const PageSink& sink) = 0;
};

// A state of the source that a move copies up to.
struct Stage {
  Extent to;
  Hash128 print;
};

struct PieceKey {
  std::uint64_t stage = 0;
  std::string table;
  std::uint64_t number = 0;
  auto operator<=>(const PieceKey&) const = default;
};

// What a target has of an unfinished move.
struct MoveState {
  std::vector<Stage> stages;
  std::map<PieceKey, Tally> arrived;
  // An attempt was ended after everything had been found to be right, and only finish() is left.
  bool is_whole = false;
};

// A ledger that is being made. Nobody can open it as one before finish().
class Target {
 public:
  virtual ~Target() = default;
  virtual std::string name() const = 0;
  // What an earlier attempt left; nothing: it begins.
  virtual const MoveState& found() const = 0;

  virtual Result<void> begin_stage(std::uint64_t number, const Stage& stage) = 0;
  // The rows of a piece, and at its end what they came to. A piece arrives as a whole or not at
  // all, though perhaps only some time after end_piece(): an Error may be that of an earlier one.
  virtual Result<void> begin_piece(const PieceKey& key, const MovedTable& table) = 0;
  virtual Result<void> add(const Page& page) = 0;
  virtual Result<void> end_piece(const Tally& tally) = 0;
  // All of them have arrived.
  virtual Result<void> wait() = 0;

  // All rows that a table holds, in any order. REQUIRES: nothing is on its way.
  virtual Result<void> read(const MovedTable& table, const History& history,
                            const PageSink& sink) = 0;
  // Makes it a ledger with this history. Of a target that is whole already: puts it in its place.
  virtual Result<void> finish(const History& history) = 0;
};

}  // namespace pennyweight::move
