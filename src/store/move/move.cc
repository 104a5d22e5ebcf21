#include "store/move/move.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace pennyweight::move {
namespace {

// A source that grows faster than it is copied is not followed for ever.
constexpr std::uint64_t kStagesAtOnce = 3;

bool holds_all_of(const Extent& now, const Extent& then) {
  return std::ranges::all_of(then, [&](const auto& list) {
    const auto found = now.find(list.first);
    return list.second == 0 || (found != now.end() && found->second >= list.second);
  });
}

// What the records of imports and runs say that there is, beside what there is: a keeper that tells
// counts from the records would otherwise say something else than one that counts rows.
std::vector<std::string> odd_counts(const std::vector<MovedRows>& tables) {
  const auto of = [&](std::string_view name) -> const MovedRows& {
    return *std::ranges::find_if(tables, [&](const MovedRows& t) { return t.table->name == name; });
  };
  const MovedRows &imports = of("imports"), &runs = of("runs");
  const auto told = [](const MovedRows& of_records, std::string_view column) {
    return of_records.source.sum(*of_records.table, column);
  };
  std::vector<std::string> odd;
  const auto check = [&](std::string_view table, UInt128 wanted) {
    const std::uint64_t rows = of(table).source.rows();
    if (wanted == rows) return;
    odd.push_back(fmt::format("{}: the source's own records tell of {} rows, and it holds {}",
                              table, to_text(wanted), rows));
  };
  for (const char* table :
       {"holdings", "nodes", "gpus", "usages", "outages", "corrections", "outcomes"}) {
    check(table, told(imports, table));
  }
  check("charges", told(imports, "charges") + told(imports, "reversed"));
  check("postings", told(runs, "postings"));
  return odd;
}

class Moving {
 public:
  Moving(Source& source, Target& target, const MoveListener& listener)
      : source_(source), target_(target), listener_(listener) {}
  Result<MoveOutcome> move();

 private:
  struct StagePieces {
    std::uint64_t stage = 0;
    std::vector<Piece> pieces;
  };
  const Extent& reached() const;
  Result<void> check_source(const Extent& now);
  Result<void> plan(std::uint64_t stage);
  Result<void> copy_stage(const StagePieces& pieces);
  Result<void> copy_piece(const Piece& piece, const PieceKey& key);
  Result<void> copy_all();
  Result<void> read_back(const History& history);
  void tell(const std::string& table) {
    progress_.table = table;
    listener_(progress_);
  }
  Tally& copied(const std::string& table) { return copied_[table]; }

  Source& source_;
  Target& target_;
  const MoveListener& listener_;
  std::vector<Stage> stages_;
  std::vector<StagePieces> planned_;
  std::map<std::string, Tally> copied_;  // by table
  MoveProgress progress_;
  MoveOutcome outcome_;
};

const Extent& Moving::reached() const {
  static const Extent kNothing;
  return stages_.empty() ? kNothing : stages_.back().to;
}

Result<void> Moving::check_source(const Extent& now) {
  if (stages_.empty()) return {};
  const auto another = [&] {
    return fail(ErrorCode::kConflict, "the move to " + target_.name() +
                                          " was begun from another ledger than " + source_.name());
  };
  if (!holds_all_of(now, reached())) return another();
  const Result<Hash128> print = source_.print(reached());
  if (!print) return std::unexpected(print.error());
  if (*print != stages_.back().print) return another();
  return {};
}

Result<void> Moving::plan(std::uint64_t stage) {
  static const Extent kNothing;
  StagePieces planned = {.stage = stage, .pieces = {}};
  for (const MovedTable& table : moved_tables()) {
    const auto pieces =
        source_.pieces(table, stage == 0 ? kNothing : stages_[stage - 1].to, stages_[stage].to);
    if (!pieces) return std::unexpected(pieces.error());
    for (const Piece& piece : *pieces) {
      planned.pieces.push_back(piece);
      progress_.rows_all += piece.rows;
    }
  }
  planned_.push_back(std::move(planned));
  return {};
}

Result<void> Moving::copy_piece(const Piece& piece, const PieceKey& key) {
  if (Result<void> begun = target_.begin_piece(key, *piece.table); !begun) return begun;
  Tally tally;
  const Result<void> read = source_.read(piece, [&](const Page& page) -> Result<void> {
    tally.add(page);
    progress_.rows += page.rows;
    tell(key.table);
    return target_.add(page);
  });
  if (!read) return read;
  if (Result<void> ended = target_.end_piece(tally); !ended) return ended;
  copied(key.table).add(tally);
  return {};
}

Result<void> Moving::copy_stage(const StagePieces& planned) {
  for (const Piece& piece : planned.pieces) {
    const PieceKey key = {planned.stage, piece.table->name, piece.number};
    const auto there = target_.found().arrived.find(key);
    if (there == target_.found().arrived.end()) {
      if (Result<void> done = copy_piece(piece, key); !done) return done;
      continue;
    }
    copied(key.table).add(there->second);
    progress_.rows += there->second.rows();
    progress_.found += there->second.rows();
  }
  return {};
}

Result<void> Moving::copy_all() {
  const Result<Extent> now = source_.extent();
  if (!now) return std::unexpected(now.error());
  if (Result<void> same = check_source(*now); !same) return same;
  for (std::uint64_t stage = 0; stage < stages_.size(); ++stage) {
    if (Result<void> planned = plan(stage); !planned) return planned;
  }
  for (const StagePieces& planned : planned_) {
    if (Result<void> done = copy_stage(planned); !done) return done;
  }
  for (std::uint64_t i = 0; i < kStagesAtOnce; ++i) {
    const Result<Extent> further = source_.extent();
    if (!further) return std::unexpected(further.error());
    if (!stages_.empty() && *further == reached()) break;
    const Result<Hash128> print = source_.print(*further);
    if (!print) return std::unexpected(print.error());
    stages_.push_back({*further, *print});
    Result<void> done = target_.begin_stage(stages_.size() - 1, stages_.back());
    if (done) done = plan(stages_.size() - 1);
    if (done) done = copy_stage(planned_.back());
    if (!done) return done;
  }
  return target_.wait();
}

Result<void> Moving::read_back(const History& history) {
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
  std::ranges::move(odd_counts(outcome_.tables), std::back_inserter(outcome_.differences));
  return {};
}

Result<MoveOutcome> Moving::move() {
  if (target_.found().is_whole) {
    if (Result<void> done = target_.finish({}); !done) return std::unexpected(done.error());
    outcome_.was_whole = true;
    return std::move(outcome_);
  }
  stages_ = target_.found().stages;
  if (Result<void> done = copy_all(); !done) return std::unexpected(done.error());
  outcome_.found = progress_.found;
  const Result<History> history = source_.history(reached());
  if (!history) return std::unexpected(history.error());
  if (Result<void> done = read_back(*history); !done) return std::unexpected(done.error());
  if (!outcome_.differences.empty()) return std::move(outcome_);
  const Result<Extent> now = source_.extent();
  if (!now) return std::unexpected(now.error());
  if (*now != reached()) {
    return fail(ErrorCode::kConflict,
                "the source has grown since it was copied; stop whoever writes to it, and run the "
                "same command again: it goes on from here");
  }
  if (Result<void> done = target_.finish(*history); !done) return std::unexpected(done.error());
  return std::move(outcome_);
}

// All that a table of a ledger holds.
Result<Tally> tally_of(Source& source, const MovedTable& table, const Extent& to,
                       const std::function<void(std::uint64_t)>& tell) {
  const auto pieces = source.pieces(table, {}, to);
  if (!pieces) return std::unexpected(pieces.error());
  Tally tally;
  for (const Piece& piece : *pieces) {
    const Result<void> read = source.read(piece, [&](const Page& page) -> Result<void> {
      tally.add(page);
      tell(page.rows);
      return {};
    });
    if (!read) return std::unexpected(read.error());
  }
  return tally;
}

}  // namespace

Result<MoveOutcome> move_ledger(Source& source, Target& target, const MoveListener& listener) {
  return Moving(source, target, listener).move();
}

Result<MoveOutcome> compare_ledgers(Source& source, Source& target, const MoveListener& listener) {
  const Result<Extent> here = source.extent(), there = target.extent();
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
    Result<Tally> mine = tally_of(source, table, *here, tell);
    if (!mine) return std::unexpected(std::move(mine.error()));
    Result<Tally> other = tally_of(target, table, *there, tell);
    if (!other) return std::unexpected(std::move(other.error()));
    outcome.tables.push_back({&table, std::move(*mine), std::move(*other)});
    const MovedRows& rows = outcome.tables.back();
    if (rows.source == rows.target) continue;
    outcome.differences.push_back(difference(table, rows.source, rows.target));
    break;
  }
  return outcome;
}

}  // namespace pennyweight::move
