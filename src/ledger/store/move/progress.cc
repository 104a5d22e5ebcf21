#include "ledger/store/move/progress.h"

#include <utility>

namespace pennyweight::move {

std::vector<ProgressRow> progress_rows(std::uint64_t number, const CopyStage& stage) {
  std::vector<ProgressRow> rows = {{.what = "print", .stage = number, .hash = stage.print}};
  for (const auto& [list, to] : stage.to) {
    rows.push_back({.what = "list", .stage = number, .name = list, .number = to});
  }
  return rows;
}

std::vector<ProgressRow> progress_rows(const PieceKey& key, const MovedTable& table,
                                       const Tally& tally) {
  std::vector<ProgressRow> rows;
  const ProgressRow of_piece = {
      .what = "sum", .stage = key.stage, .table = key.table, .piece = key.number};
  for (std::size_t i = 0; i < tally.sums().size(); ++i) {
    rows.push_back(of_piece);
    rows.back().name = table.columns[i].name;
    rows.back().hash = as_hash(tally.sums()[i]);
  }
  rows.push_back(of_piece);
  rows.back().what = "piece";
  rows.back().number = tally.rows();
  rows.back().hash = tally.digest();
  return rows;
}

void ProgressReader::add(const ProgressRow& row) {
  const PieceKey key = {row.stage, row.table, row.piece};
  if (row.what == "print") stages_[row.stage].print = row.hash;
  if (row.what == "list") stages_[row.stage].to[row.name] = row.number;
  if (row.what == "sum") sums_[key][row.name] = as_number(row.hash);
  if (row.what == "piece") pieces_[key] = row;
}

MoveState ProgressReader::state() const {
  MoveState state;
  for (const auto& [number, stage] : stages_) state.stages.push_back(stage);
  for (const MovedTable& table : moved_tables()) {
    for (const auto& [key, row] : pieces_) {
      if (key.table != table.name) continue;
      std::vector<UInt128> sums;
      const auto of_piece = sums_.find(key);
      if (of_piece != sums_.end()) {
        for (const MovedColumn& column : table.columns) {
          const auto sum = of_piece->second.find(column.name);
          sums.push_back(sum == of_piece->second.end() ? 0 : sum->second);
        }
      }
      state.arrived[key] = Tally(row.number, row.hash, std::move(sums));
    }
  }
  return state;
}

}  // namespace pennyweight::move
