#include "store/move/notes.h"

#include <utility>

namespace pennyweight::move {

std::vector<Note> notes_of(std::uint64_t number, const Stage& stage) {
  std::vector<Note> notes = {{.what = "print", .stage = number, .hash = stage.print}};
  for (const auto& [list, to] : stage.to) {
    notes.push_back({.what = "list", .stage = number, .name = list, .number = to});
  }
  return notes;
}

std::vector<Note> notes_of(const PieceKey& key, const MovedTable& table, const Tally& tally) {
  std::vector<Note> notes;
  const Note of_piece = {
      .what = "sum", .stage = key.stage, .table = key.table, .piece = key.number};
  for (std::size_t i = 0; i < tally.sums().size(); ++i) {
    notes.push_back(of_piece);
    notes.back().name = table.columns[i].name;
    notes.back().hash = as_hash(tally.sums()[i]);
  }
  notes.push_back(of_piece);
  notes.back().what = "piece";
  notes.back().number = tally.rows();
  notes.back().hash = tally.digest();
  return notes;
}

void Recollection::take(const Note& note) {
  const PieceKey key = {note.stage, note.table, note.piece};
  if (note.what == "print") stages_[note.stage].print = note.hash;
  if (note.what == "list") stages_[note.stage].to[note.name] = note.number;
  if (note.what == "sum") sums_[key][note.name] = as_number(note.hash);
  if (note.what == "piece") pieces_[key] = note;
}

MoveState Recollection::state() const {
  MoveState state;
  for (const auto& [number, stage] : stages_) state.stages.push_back(stage);
  for (const MovedTable& table : moved_tables()) {
    for (const auto& [key, note] : pieces_) {
      if (key.table != table.name) continue;
      std::vector<UInt128> sums;
      const auto of_piece = sums_.find(key);
      if (of_piece != sums_.end()) {
        for (const MovedColumn& column : table.columns) {
          const auto sum = of_piece->second.find(column.name);
          sums.push_back(sum == of_piece->second.end() ? 0 : sum->second);
        }
      }
      state.arrived[key] = Tally(note.number, note.hash, std::move(sums));
    }
  }
  return state;
}

}  // namespace pennyweight::move
