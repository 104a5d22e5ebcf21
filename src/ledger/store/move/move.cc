#include "ledger/store/move/move.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/try.h"

namespace pennyweight::move {
namespace {

// The limit for following a source that grows faster than it is copied.
constexpr std::uint64_t kStagesAtOnce = 3;

bool holds_all_of(const Watermark& now, const Watermark& then) {
  return std::ranges::all_of(then, [&](const auto& list) {
    const auto found = now.find(list.first);
    return list.second == 0 || (found != now.end() && found->second >= list.second);
  });
}

// Compares the counts in the records of imports and runs with the rows that exist. If they
// differed, a store that reports counts from the records would give other figures than one that
// counts rows.
std::vector<std::string> count_mismatches(const std::vector<MovedRows>& tables) {
  const auto of = [&](std::string_view name) -> const MovedRows& {
    return *std::ranges::find_if(tables, [&](const MovedRows& t) { return t.table->name == name; });
  };
  const MovedRows &imports = of("imports"), &runs = of("runs");
  const auto recorded = [](const MovedRows& of_records, std::string_view column) {
    return of_records.source.sum(*of_records.table, column);
  };
  std::vector<std::string> odd;
  const auto check = [&](std::string_view table, UInt128 wanted) {
    const std::uint64_t rows = of(table).source.rows();
    if (wanted == rows) return;
    odd.push_back(fmt::format("{}: by the source's own records it has {} rows; it holds {}", table,
                              to_text(wanted), rows));
  };
  for (const char* table :
       {"holdings", "nodes", "gpus", "usages", "outages", "corrections", "outcomes"}) {
    check(table, recorded(imports, table));
  }
  check("charges", recorded(imports, "charges") + recorded(imports, "reversed"));
  check("postings", recorded(runs, "postings"));
  return odd;
}

class LedgerMove {
 public:
  LedgerMove(LedgerSource& source, LedgerTarget& target, const MoveListener& listener)
      : source_(source), target_(target), listener_(listener) {}
  Result<MoveOutcome> move();

 private:
  struct StagePieces {
    std::uint64_t stage = 0;
    std::vector<TablePiece> pieces;
  };
  const Watermark& reached() const;
  Result<void> check_source(const Watermark& now);
  Result<void> plan(std::uint64_t stage);
  Result<void> copy_stage(const StagePieces& pieces);
  Result<void> copy_piece(const TablePiece& piece, const PieceKey& key);
  Result<void> copy_all();
  Result<void> read_back(const CommitHistory& history);
  void tell(const std::string& table) {
    progress_.table = table;
    listener_(progress_);
  }
  Tally& copied(const std::string& table) { return copied_[table]; }

  LedgerSource& source_;
  LedgerTarget& target_;
  const MoveListener& listener_;
  std::vector<CopyStage> stages_;
  std::vector<StagePieces> planned_;
  std::map<std::string, Tally> copied_;  // by table
  MoveProgress progress_;
  MoveOutcome outcome_;
};

const Watermark& LedgerMove::reached() const {
  static const Watermark kNothing;
  return stages_.empty() ? kNothing : stages_.back().to;
}

Result<void> LedgerMove::check_source(const Watermark& now) {
  if (stages_.empty()) return {};
  const auto another = [&] {
    return fail(ErrorCode::kConflict, "the move to " + target_.name() +
                                          " was begun from another ledger than " + source_.name());
  };
  if (!holds_all_of(now, reached())) return another();
  const Hash128 print = TRY(source_.print(reached()));
  if (print != stages_.back().print) return another();
  return {};
}

Result<void> LedgerMove::plan(std::uint64_t stage) {
  static const Watermark kNothing;
  StagePieces planned = {.stage = stage, .pieces = {}};
  for (const MovedTable& table : moved_tables()) {
    const auto pieces = TRY(
        source_.pieces(table, stage == 0 ? kNothing : stages_[stage - 1].to, stages_[stage].to));
    for (const TablePiece& piece : pieces) {
      planned.pieces.push_back(piece);
      progress_.rows_all += piece.rows;
    }
  }
  planned_.push_back(std::move(planned));
  return {};
}

Result<void> LedgerMove::copy_piece(const TablePiece& piece, const PieceKey& key) {
  TRY(target_.begin_piece(key, *piece.table));
  Tally tally;
  const Result<void> read = source_.read(piece, [&](const Page& page) -> Result<void> {
    tally.add(page);
    progress_.rows += page.rows;
    tell(key.table);
    return target_.add(page);
  });
  if (!read) return read;
  TRY(target_.end_piece(tally));
  copied(key.table).add(tally);
  return {};
}

Result<void> LedgerMove::copy_stage(const StagePieces& planned) {
  for (const TablePiece& piece : planned.pieces) {
    const PieceKey key = {planned.stage, piece.table->name, piece.number};
    const auto there = target_.found().arrived.find(key);
    if (there == target_.found().arrived.end()) {
      TRY(copy_piece(piece, key));
      continue;
    }
    copied(key.table).add(there->second);
    progress_.rows += there->second.rows();
    progress_.found += there->second.rows();
  }
  return {};
}

Result<void> LedgerMove::copy_all() {
  const Watermark now = TRY(source_.watermark());
  TRY(check_source(now));
  for (std::uint64_t stage = 0; stage < stages_.size(); ++stage) {
    TRY(plan(stage));
  }
  for (const StagePieces& planned : planned_) {
    TRY(copy_stage(planned));
  }
  for (std::uint64_t i = 0; i < kStagesAtOnce; ++i) {
    const Watermark further = TRY(source_.watermark());
    if (!stages_.empty() && further == reached()) break;
    const Hash128 print = TRY(source_.print(further));
    stages_.push_back({further, print});
    Result<void> done = target_.begin_stage(stages_.size() - 1, stages_.back());
    if (done) done = plan(stages_.size() - 1);
    if (done) done = copy_stage(planned_.back());
    if (!done) return done;
  }
  return target_.wait();
}

Result<void> LedgerMove::read_back(const CommitHistory& history) {
  progress_ = {.phase = MoveProgress::Phase::kReadingBack,
               .table = {},
               .rows = 0,
               .rows_all = progress_.rows,
               .found = progress_.found};
  for (const MovedTable& table : moved_tables()) {
    MovedRows rows = {.table = &table, .source = copied(table.name), .target = {}};
    tell(table.name);
    const Result<void> read = target_.read(table, history, [&](const Page& page) -> Result<void> {
      rows.target.add(page);
      progress_.rows += page.rows;
      tell(table.name);
      return {};
    });
    if (!read) return read;
    if (rows.source != rows.target) {
      outcome_.differences.push_back(difference(table, rows.source, rows.target));
    }
    outcome_.tables.push_back(std::move(rows));
  }
  std::ranges::move(count_mismatches(outcome_.tables), std::back_inserter(outcome_.differences));
  return {};
}

Result<MoveOutcome> LedgerMove::move() {
  if (target_.found().is_whole) {
    TRY(target_.finish({}));
    outcome_.was_whole = true;
    return std::move(outcome_);
  }
  stages_ = target_.found().stages;
  TRY(copy_all());
  outcome_.found = progress_.found;
  const CommitHistory history = TRY(source_.history(reached()));
  TRY(read_back(history));
  if (!outcome_.differences.empty()) return std::move(outcome_);
  const Watermark now = TRY(source_.watermark());
  if (now != reached()) {
    return fail(
        ErrorCode::kConflict,
        "the source has grown since it was copied; stop all programs that write to it and run "
        "the same command again: it continues from here");
  }
  TRY(target_.finish(history));
  return std::move(outcome_);
}

// Everything that a table of a ledger contains.
Result<Tally> tally_of(LedgerSource& source, const MovedTable& table, const Watermark& to,
                       const std::function<void(std::uint64_t)>& tell) {
  const auto pieces = TRY(source.pieces(table, {}, to));
  Tally tally;
  for (const TablePiece& piece : pieces) {
    TRY(source.read(piece, [&](const Page& page) -> Result<void> {
      tally.add(page);
      tell(page.rows);
      return {};
    }));
  }
  return tally;
}

}  // namespace

Result<MoveOutcome> move_ledger(LedgerSource& source, LedgerTarget& target,
                                const MoveListener& listener) {
  return LedgerMove(source, target, listener).move();
}

Result<MoveOutcome> compare_ledgers(LedgerSource& source, LedgerSource& target,
                                    const MoveListener& listener) {
  const Result<Watermark> here = source.watermark(), there = target.watermark();
  if (!here || !there) return std::unexpected((here ? there : here).error());
  MoveOutcome outcome;
  MoveProgress progress;
  progress.phase = MoveProgress::Phase::kReadingBack;
  for (const MovedTable& table : moved_tables()) {
    progress.table = table.name;
    const auto tell = [&](std::uint64_t rows) {
      progress.rows += rows;
      listener(progress);
    };
    Tally mine = TRY(tally_of(source, table, *here, tell));
    Tally other = TRY(tally_of(target, table, *there, tell));
    outcome.tables.push_back({&table, std::move(mine), std::move(other)});
    const MovedRows& rows = outcome.tables.back();
    if (rows.source == rows.target) continue;
    outcome.differences.push_back(difference(table, rows.source, rows.target));
    break;
  }
  return outcome;
}

}  // namespace pennyweight::move
