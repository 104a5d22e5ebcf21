// Note: what a target writes down of a move, a row of its table `moving`; and what all of them say.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/move/ends.h"

namespace pennyweight::move {

// The table that an unfinished target has and a ledger has not.
inline constexpr const char* kMovingTable = "moving";

//   print   of a stage: `hash`
//   list    of a stage: `name` and how far it goes, `number`
//   sum     of a piece: of its column `name`, `hash`
//   piece   that it arrived, its rows as `number` and its digest as `hash`; the last of its notes
// A target may have kinds of its own beside these.
struct Note {
  std::string what;
  std::uint64_t stage = 0;
  std::string table = {};  // of a piece
  std::uint64_t piece = 0;
  std::string name = {};
  std::uint64_t number = 0;
  Hash128 hash = {};
};

std::vector<Note> notes_of(std::uint64_t number, const Stage& stage);
std::vector<Note> notes_of(const PieceKey& key, const MovedTable& table, const Tally& tally);

// Puts together what notes say, in whichever order they come.
class Recollection {
 public:
  void take(const Note& note);
  MoveState state() const;

 private:
  std::map<std::uint64_t, Stage> stages_;
  std::map<PieceKey, std::map<std::string, UInt128>> sums_;
  std::map<PieceKey, Note> pieces_;
};

}  // namespace pennyweight::move
