// ProgressRow: a row of the table `moving`, in which a target records the progress of a move.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ledger/store/columns/columns.h"
#include "ledger/store/move/endpoints.h"

namespace pennyweight::move {

// A table that only unfinished targets have.
inline constexpr const char* kMovingTable = "moving";

// The kinds of rows, in `what`:
//
//   print   a stage's print, in `hash`
//   list    a stage's watermark of the list `name`, in `number`
//   sum     a piece's sum of the column `name`, in `hash`
//   piece   the last row of a piece that has arrived: its rows in `number`, its digest in `hash`
//
// A target may add kinds of its own.
struct ProgressRow {
  std::string what = {};
  std::uint64_t stage = 0;
  std::string table = {};  // of a piece
  std::uint64_t piece = 0;
  std::string name = {};
  std::uint64_t number = 0;
  Hash128 hash = {};
};

std::vector<ProgressRow> progress_rows(std::uint64_t number, const CopyStage& stage);
std::vector<ProgressRow> progress_rows(const PieceKey& key, const MovedTable& table,
                                       const Tally& tally);

// Builds the MoveState from the rows, in any order.
class ProgressReader {
 public:
  void add(const ProgressRow& row);
  MoveState state() const;

 private:
  std::map<std::uint64_t, CopyStage> stages_;
  std::map<PieceKey, std::map<std::string, UInt128>> sums_;
  std::map<PieceKey, ProgressRow> pieces_;
};

}  // namespace pennyweight::move

namespace pennyweight {

template <>
struct Table<move::ProgressRow> {
  static constexpr const char* kName = move::kMovingTable;
  static move::ProgressRow blank() { return {}; }
  static void list(auto& io) {
    using move::ProgressRow;
    io.text("what", &ProgressRow::what);
    io.count("stage", &ProgressRow::stage);
    io.text("table_name", &ProgressRow::table);
    io.count("piece", &ProgressRow::piece);
    io.text("name", &ProgressRow::name);
    io.count("number", &ProgressRow::number);
    io.hash("hash", &ProgressRow::hash);
  }
};

}  // namespace pennyweight
