#include "ledger/store/clickhouse/log/commit_log.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/try.h"

namespace pennyweight::commit_log {
namespace {

constexpr std::chrono::milliseconds kBackOffMax{2'000};
// A read that ran while rows were being written is repeated. Past this many repetitions the log is
// damaged, and waiting longer would not help.
constexpr int kReadsMax = 20;

bool is_of(const Entry& entry, const LogRow& row) {
  return entry.position == row.position && entry.turn == row.turn && entry.session == row.session;
}

bool is_same_entry(const LogRow* row, const LogRow& entry) {
  return row != nullptr && row->position == entry.position && row->turn == entry.turn &&
         row->session == entry.session;
}

// The writers that claimed a turn and have not released it.
std::vector<std::uint64_t> holders(const std::vector<LogRow>& rows, std::uint64_t turn) {
  std::vector<std::uint64_t> asked, released;
  for (const LogRow& row : rows) {
    if (row.turn != turn || row.kind == RowKind::kSealed) continue;
    (row.kind == RowKind::kRelease ? released : asked).push_back(row.writer);
  }
  std::ranges::sort(asked);
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  std::ranges::sort(released);
  std::erase_if(asked,
                [&](std::uint64_t writer) { return std::ranges::binary_search(released, writer); });
  return asked;
}

}  // namespace

struct CommitLog::LogReading {
  std::vector<LogRow> rows;
  LogTail at;  // points into rows
  // The highest turn is open, and was open before this read began. So any writer that claims a
  // later turn reads after that, and continues from this state.
  bool decided = false;
};

struct CommitLog::Pause {
  explicit Pause(CommitLog& whose)
      : log(whose),
        until(whose.clock_.now() + whose.settings_.patience),
        longest(whose.settings_.back_off) {}
  // False once the time is up.
  bool next() {
    const std::chrono::milliseconds left = until - log.clock_.now();
    if (left.count() <= 0) return false;
    std::uniform_int_distribution<std::int64_t> part(longest.count() / 4 + 1, longest.count() + 1);
    log.clock_.sleep(std::min(std::chrono::milliseconds(part(log.random_)), left));
    longest = std::min(longest * 2, kBackOffMax);
    return true;
  }
  CommitLog& log;
  Instant until;
  std::chrono::milliseconds longest;
};

CommitLog::CommitLog(LogStorage& storage, Clock clock, Settings settings, std::uint64_t seed)
    : storage_(storage),
      clock_(std::move(clock)),
      settings_(settings),
      random_(seed),
      writer_(random_() | 1) {  // never 0
  CHECK(settings_.lease.count() > 0 && settings_.back_off.count() > 0, "waiting takes some time");
}

void CommitLog::start_from(View view) {
  if (view.entries.size() <= view_.entries.size()) return;
  view_ = std::move(view);
  caught_up_ = true;
}

LogRow CommitLog::row(RowKind kind, std::uint64_t turn) const {
  return LogRow{.kind = kind, .turn = turn, .writer = writer_, .at = clock_.now()};
}

Result<void> CommitLog::append(const LogRow& row) {
  Result<void> done = storage_.append(row);
  if (done && turn_ != 0 && row.turn == turn_) said_at_ = row.at;
  return done;
}

// Reads the seals that view_ does not have yet.
Result<void> CommitLog::catch_up() {
  for (int reads = 1;; ++reads) {
    SealCollector gathering(view_);
    const Result<void> read =
        storage_.seals(view_.end(), [&](const SealedEntry& seal) { gathering.take(seal); });
    if (!read) return read;
    Result<void> added = gathering.finish();
    caught_up_ = caught_up_ || added;
    if (added || reads == kReadsMax) return added;
    clock_.sleep(settings_.back_off);
  }
}

// Reads what view_ does not have yet; on success view_ matches the rows. A log of several years has
// many turns, of which only the last ones matter here: for the others, the seals alone say what
// counts.
Result<CommitLog::LogReading> CommitLog::read_log() {
  if (!caught_up_) {
    TRY(catch_up());
  }
  for (int reads = 1;; ++reads) {
    Result<std::vector<LogRow>> rows = storage_.read(view_.end());
    if (!rows) return std::unexpected(rows.error());
    const Result<void> extended = extend(view_, *rows);
    if (!extended && reads == kReadsMax) return std::unexpected(extended.error());
    if (extended) {
      LogReading seen;
      seen.rows = std::move(*rows);
      seen.at = find_log_tail(seen.rows, view_);
      const std::uint64_t opened = seen.at.open == nullptr ? 0 : seen.at.open->turn;
      seen.decided = opened != 0 && opened == seen.at.highest_turn && opened == opened_;
      opened_ = std::max(opened_, opened);
      if (!seen.at.torn) return seen;
      if (reads == kReadsMax) {
        return fail(ErrorCode::kStore,
                    "the log of commits contradicts itself after position " +
                        std::to_string(view_.entries.size()) +
                        ": rows of its table are missing, or no writer of this ledger wrote them");
      }
    }
    clock_.sleep(settings_.back_off);
  }
}

Result<View> CommitLog::read() {
  TRY(catch_up());
  return view_;
}

// Whether another writer holds the highest turn and may still use it.
bool CommitLog::busy(const LogReading& seen) {
  const std::uint64_t turn = seen.at.highest_turn;
  std::vector<std::uint64_t> theirs = holders(seen.rows, turn);
  std::erase(theirs, writer_);  // this writer has no turn, or it would not ask
  if (theirs.empty()) return false;

  std::uint64_t rows = 0;
  Instant latest = {};
  for (const LogRow& row : seen.rows) {
    // Any writer may have sealed, and a read need not return rows that are known already.
    if (row.turn != turn || row.kind == RowKind::kSealed) continue;
    ++rows;
    latest = std::max(latest, row.at);
  }
  const Instant now = clock_.now();
  if (silence_.turn != turn || silence_.rows != rows || silence_.since > now) {
    silence_ = {.turn = turn, .rows = rows, .since = now};
  }
  if (now - silence_.since >= settings_.lease) return false;
  return now - latest < settings_.lease + settings_.skew;
}

// Best effort, so that nobody waits for the lease of an abandoned turn to expire.
void CommitLog::give_back(std::uint64_t turn) {
  [[maybe_unused]] const Result<void> done = append(row(RowKind::kRelease, turn));
}

Result<void> CommitLog::seal(const LogRow& entry) {
  LogRow sealed = entry;
  sealed.kind = RowKind::kSealed;
  sealed.writer = writer_;
  sealed.at = clock_.now();
  Result<void> done = append(sealed);
  if (done && view_.entries.size() + 1 == entry.position) {
    view_.entries.add(entry.turn, entry.session, entry.what);
  }
  return done;
}

// Tries to take the turn after the highest; false if another writer was faster.
Result<bool> CommitLog::take_next(const LogReading& seen) {
  const std::uint64_t turn = seen.at.highest_turn + 1;
  const auto failed = [&](const Error& error) {
    give_back(turn);
    return std::unexpected(error);
  };
  if (const Result<void> claimed = append(row(RowKind::kClaim, turn)); !claimed) {
    return failed(claimed.error());
  }
  const Result<LogReading> read = read_log();
  if (!read) return failed(read.error());
  // Of two writers that claim the same turn, at least one sees the other. If both do, neither gets
  // it.
  bool shown = false, alone = read->at.highest_turn == turn;
  for (const LogRow& other : read->rows) {
    if (other.kind != RowKind::kClaim || other.turn != turn) continue;
    if (other.writer == writer_) shown = true;
    if (other.writer != writer_) alone = false;
  }
  if (!alone) {
    give_back(turn);
    return false;
  }
  if (!shown) {
    return failed(Error{ErrorCode::kStore, "the log of commits does not show what was written"});
  }

  LogRow open = row(RowKind::kOpen, turn);
  const LogRow* unsealed = read->at.unsealed;
  open.position = view_.entries.size() + (unsealed != nullptr ? 1 : 0);
  open.prefix = std::to_string(unsealed != nullptr ? unsealed->turn : view_.end().turn);
  if (const Result<void> opened = append(open); !opened) return failed(opened.error());
  opened_ = turn;  // it was written before the next read begins
  const Result<LogReading> confirmed = read_log();
  if (!confirmed) return failed(confirmed.error());
  if (confirmed->at.highest_turn != turn) {
    give_back(turn);
    return false;
  }
  if (!confirmed->decided) {
    return failed(Error{ErrorCode::kStore, "the log of commits does not show what was written"});
  }
  if (confirmed->at.unsealed != nullptr) {
    if (const Result<void> done = seal(*confirmed->at.unsealed); !done) return failed(done.error());
  }
  turn_ = turn;
  alive_said_ = 0;
  said_at_ = open.at;
  return true;
}

// The fate of an entry after a later turn of another writer was opened.
CommitLog::EntryStatus CommitLog::status_of(const LogReading& seen, const LogRow& entry) {
  if (view_.entries.size() >= entry.position) {
    return is_of(view_.entries[entry.position - 1], entry) ? EntryStatus::kCounts
                                                           : EntryStatus::kVoid;
  }
  if (!seen.decided || seen.at.open->turn <= entry.turn) return EntryStatus::kUnknown;
  if (!is_same_entry(seen.at.unsealed, entry)) return EntryStatus::kVoid;
  // It counts permanently; only its own writer needs to say so, by sealing it.
  return seal(*seen.at.unsealed) ? EntryStatus::kCounts : EntryStatus::kUnknown;
}

// Waits until this writer has a turn, or until the fate of `doubt` is known without one.
Result<void> CommitLog::take(const LogRow* doubt) {
  Pause pause(*this);
  for (;;) {
    Error why{ErrorCode::kStore, "another writer has the turn"};
    bool failed = false;
    const Result<LogReading> seen = read_log();
    if (!seen) {
      why = seen.error();
      failed = true;
    } else if (doubt != nullptr && status_of(*seen, *doubt) != EntryStatus::kUnknown) {
      return {};
    } else if (!busy(*seen)) {
      const Result<bool> taken = take_next(*seen);
      if (taken && *taken) return {};
      if (!taken) why = taken.error();
      failed = !taken;
    }
    if (failed && doubt == nullptr) return std::unexpected(why);
    if (!pause.next()) {
      if (!failed) {
        why.message += " (turn " + std::to_string(seen->at.highest_turn) +
                       "), and did not end it " + "within " +
                       std::to_string(settings_.patience.count()) + " ms";
      }
      return std::unexpected(why);
    }
  }
}

Result<View> CommitLog::begin() {
  CHECK(turn_ == 0, "a turn is released before the next is begun");
  in_doubt_ = false;
  TRY(take(nullptr));
  return view_;
}

Result<void> CommitLog::alive() {
  if (turn_ == 0) return fail(ErrorCode::kStore, "another writer has the turn to commit");
  const Instant now = clock_.now();
  if (now >= said_at_ && now - said_at_ < settings_.lease / 3) return {};
  LogRow said = row(RowKind::kAlive, turn_);
  said.position = ++alive_said_;
  TRY(append(said));
  const Result<LogReading> seen = read_log();
  if (!seen) return std::unexpected(seen.error());
  if (seen->at.highest_turn == turn_) return {};
  turn_ = 0;
  return fail(ErrorCode::kStore,
              "another writer has taken the turn to commit: this one was silent for too long");
}

// Decides the fate of our entry after a later turn was opened. It counts exactly if that turn, or
// the one that decides in its place, continues from it.
Result<Entry> CommitLog::resolve_doubt(const LogRow& entry) {
  turn_ = 0;
  const Result<void> known = take(&entry);
  if (turn_ != 0) {
    give_back(turn_);
    turn_ = 0;
  }
  if (!known) {
    in_doubt_ = true;
    return std::unexpected(known.error().during("it is not known whether what was written counts"));
  }
  if (view_.entries.size() >= entry.position && is_of(view_.entries[entry.position - 1], entry)) {
    return view_.entries[entry.position - 1];
  }
  return fail(ErrorCode::kStore,
              "another writer has taken the turn to commit: what was written does not count");
}

Result<Entry> CommitLog::commit(std::uint64_t session, const std::string& what) {
  in_doubt_ = false;
  if (turn_ == 0) return fail(ErrorCode::kStore, "another writer has the turn to commit");
  const std::uint64_t counted = view_.entries.find(session);
  if (counted < view_.entries.size()) return view_.entries[counted];

  LogRow entry = row(RowKind::kEntry, turn_);
  entry.position = view_.entries.size() + 1;
  entry.session = session;
  entry.what = what;
  Pause pause(*this);
  bool there = false;  // it was written before the next read begins
  bool safe = false;   // no later turn had been claimed when it was written
  for (;;) {
    Error why{ErrorCode::kStore, "the log of commits does not show what was written"};
    if (safe) {
      const Result<void> sealed = seal(entry);
      if (sealed) return view_.entries.back();
      why = sealed.error();
    } else if (!there) {
      const Result<void> written = append(entry);
      there = written.has_value();
      if (!written) why = written.error();
    }
    const Result<LogReading> seen = read_log();
    if (!seen) why = seen.error();
    if (seen) {
      if (view_.entries.size() >= entry.position) {
        const Entry counts = view_.entries[entry.position - 1];
        if (is_of(counts, entry)) return counts;
        return resolve_doubt(entry);
      }
      if (!safe && seen->at.highest_turn > turn_) return resolve_doubt(entry);
      const bool shown = is_same_entry(seen->at.unsealed, entry);
      if (!safe && shown) {
        safe = there && seen->decided;
        there = true;
        continue;
      }
      if (!shown) there = false;
    }
    if (!pause.next()) {
      turn_ = 0;
      in_doubt_ = true;
      return std::unexpected(why.during("it is not known whether what was written counts"));
    }
  }
}

Result<void> CommitLog::release() {
  if (turn_ == 0) return {};
  return storage_.append(row(RowKind::kRelease, std::exchange(turn_, 0)));
}

}  // namespace pennyweight::commit_log
