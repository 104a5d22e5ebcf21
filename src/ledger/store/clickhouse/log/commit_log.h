// CommitLog: one order of all commits, agreed on by writers that share only a LogStorage.
//
// To commit, a writer takes a *turn*: a numbered lock on the end of the log. It claims the next
// number, then reads the log, and holds the turn if no other writer claimed the same number or a
// later one. It opens the turn by writing down the last position that counts. From then on entries
// of earlier turns beyond that position are void, even if their writers append them later.
//
// An entry is safe once its writer has appended it and then read that nobody has claimed a later
// turn: any later claimer will see the entry and continue after it. Only then does the writer
// *seal* the entry with a row of its own, and only sealed entries count. If a later turn was
// claimed, the row that opens it tells whether the entry was kept. A turn ends when it is released,
// or when its writer has been silent for `lease`. Clocks decide only when another writer may try,
// never what counts.
//
// Why seals: between the claim of a later turn and its opening, the rows alone don't show whether
// the claimer read the last entry. Without seals a reader would have to wait for the opening (for
// ever if the claimer died), or show an entry that may be void a moment later. With seals a reader
// never waits and never takes anything back, and SQL needs only the sealed rows up to a position.
// The price is one more append for each commit.
//
// A sealed entry counts for ever, at its position. commit() succeeds exactly if its entry counts,
// and every later read() shows it. docs/clickhouse/commits.md has the proof.
//
// One CommitLog is used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "ledger/store/clickhouse/log/log_storage.h"
#include "ledger/store/clickhouse/log/view.h"

namespace pennyweight::commit_log {

struct Clock {
  std::function<Instant()> now;
  std::function<void(std::chrono::milliseconds)> sleep;
};

struct Settings {
  std::chrono::milliseconds lease{
      30'000};  // a turn whose writer is silent this long may be taken over
  std::chrono::milliseconds patience{120'000};  // how long begin() and commit() keep trying
  std::chrono::milliseconds back_off{50};       // at first; doubled, with a random part, up to 2 s
  // How much the writers' clocks may differ. If the last row is older than this plus a lease, its
  // writer is taken for dead at once; otherwise we first watch it for a lease by our own clock.
  std::chrono::milliseconds skew{600'000};
};

class CommitLog {
 public:
  // `storage` must outlive this. `seed` gives this writer's number and the random part of its
  // waits; no two writers may have the same.
  CommitLog(LogStorage& storage, Clock clock, Settings settings, std::uint64_t seed);

  // Skips reading the seals of `view`, which another CommitLog of the same storage gave.
  void start_from(View view);
  // What counted at the last read. Does no I/O.
  const View& known() const { return view_; }
  // Reads the new seals and returns what counts now. Waits for no writer.
  Result<View> read();
  // Waits for a turn, takes it, and returns what counts: nobody else commits before release() or
  // the end of the lease. This also settles a commit in doubt: a session that is not in the view
  // never will be, unless it is committed again. Fails with kStore ("another writer …") when
  // `patience` is over, and at once if the storage fails. REQUIRES: !has_turn()
  Result<View> begin();
  // Renews the turn: call it at least every lease / 3 while you hold one. It writes only when
  // needed. Fails if another writer has taken over.
  Result<void> alive();
  // Appends a session's entry after all that counts. A session that counts already stays where it
  // is. Fails if the entry doesn't count and never will, or if that couldn't be found out in time:
  // then in_doubt() is true, and the message says so. The turn is over after any error, and may be
  // over after a success too: see has_turn().
  Result<Entry> commit(std::uint64_t session, const std::string& what);
  bool in_doubt() const { return in_doubt_; }
  // Releases the turn. An error does no harm: the lease ends by itself.
  Result<void> release();
  bool has_turn() const { return turn_ != 0; }

 private:
  struct LogReading;  // the analysis of one read
  struct Pause;       // exponential back-off, until patience is over
  enum class EntryStatus { kCounts, kVoid, kUnknown };

  Result<void> catch_up();
  Result<LogReading> read_log();
  bool busy(const LogReading& seen);
  Result<bool> take_next(const LogReading& seen);
  Result<void> take(const LogRow* doubt);
  EntryStatus status_of(const LogReading& seen, const LogRow& entry);
  Result<Entry> resolve_doubt(const LogRow& entry);
  Result<void> seal(const LogRow& entry);
  Result<void> append(const LogRow& row);
  LogRow row(RowKind kind, std::uint64_t turn) const;
  void give_back(std::uint64_t turn);

  LogStorage& storage_;
  Clock clock_;
  Settings settings_;
  std::mt19937_64 random_;
  std::uint64_t writer_;

  View view_;                     // what was sealed when last read
  bool caught_up_ = false;        // view_ has been read once, or was given
  std::uint64_t opened_ = 0;      // the highest turn that an earlier read showed open
  std::uint64_t turn_ = 0;        // ours; 0: none
  std::uint64_t alive_said_ = 0;  // in this turn
  Instant said_at_ = {};          // when our last row of this turn was written
  bool in_doubt_ = false;

  // Since when the highest turn has shown no new row.
  struct Silence {
    std::uint64_t turn = 0, rows = 0;
    Instant since = {};
  } silence_;
};

}  // namespace pennyweight::commit_log
