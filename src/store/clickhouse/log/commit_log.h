// CommitLog: one order of all commits, agreed on by writers that share only a Register.
//
// Who wants to commit takes a *turn*: he claims the next number, reads, and has it if nobody else
// claimed it or a later one. He opens it by writing down up to which position the log counts; from
// then on entries of earlier turns beyond it are void, whoever still writes them. An entry is safe
// once its writer has read, after it was there, that nobody has claimed a later turn: whoever
// claims one afterwards sees it and goes on from it. Only then is it *sealed*, by a row of its own,
// and only what is sealed counts. Where a later turn was claimed, the opening of that turn tells
// whether the entry goes on. A turn ends by being released, or by its writer's silence for `lease`.
// Clocks decide only when somebody else may try, never what counts.
//
// Why a seal: between the claim of a later turn and its opening nobody can tell from the rows
// whether the last entry was read by the claimer. Readers would have to wait for the opening (for
// ever, where the claimer died), or show what may be void a moment later. With seals a reader never
// waits and never takes anything back, and a query in SQL needs no more than the rows of kind
// sealed up to a position. The price is one append a commit.
//
// What counts once counts for ever, in its position; commit() answers success exactly where its
// entry counts, and after that every read() shows it. docs/clickhouse/commits.md argues why.
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
#include "store/clickhouse/log/register.h"
#include "store/clickhouse/log/view.h"

namespace pennyweight::commit_log {

struct Clock {
  std::function<Instant()> now;
  std::function<void(std::chrono::milliseconds)> sleep;
};

struct Settings {
  std::chrono::milliseconds lease{30'000};      // after so much silence a turn is somebody else's
  std::chrono::milliseconds patience{120'000};  // how long begin() and commit() go on trying
  std::chrono::milliseconds back_off{50};       // at first; doubled, with a random part, up to 2 s
  // By how much the clocks of writers may differ: a row that is older than this and a lease is of a
  // writer that fell silent long ago. Any other is watched for a lease by one's own clock.
  std::chrono::milliseconds skew{600'000};
};

class CommitLog {
 public:
  // `reg` and `clock` live longer. `seed`: of this writer's number and of the random part of
  // waiting; no two writers may have the same.
  CommitLog(Register& reg, Clock clock, Settings settings, std::uint64_t seed);

  // Spares reading from the first seal on: `view` is what another one of the same register gave.
  void start_from(View view);
  // What counted when it last read: asks nobody.
  const View& known() const { return view_; }
  // Reads the seals that came since; gives what counts now. Waits for nobody.
  Result<View> read();
  // Waits for a turn, takes it, and gives what counts up to it: nobody else commits before
  // release() or the end of the lease. After a commit in doubt this tells: a session that is not in
  // the view never will be, unless it is committed again. An Error of kStore ("another writer …")
  // when patience is over; the register's own errors at once. REQUIRES: no turn.
  Result<View> begin();
  // Says that this turn is still used: call it at least every lease / 3 while working in it; it
  // writes no more often than needed. An Error once the turn is somebody else's.
  Result<void> alive();
  // Puts a session's entry behind all that counts; a session that counts already is left where it
  // is. An Error where it does not count and never will, or where that could not be found out in
  // time (its message says which, and then in_doubt() holds). The turn is over after any Error, and
  // also after a success for which a later turn had to be waited for: see has_turn().
  Result<Entry> commit(std::uint64_t session, const std::string& what);
  bool in_doubt() const { return in_doubt_; }
  // Gives the turn back; also an error is no harm: the lease ends by itself.
  Result<void> release();
  bool has_turn() const { return turn_ != 0; }

 private:
  struct Seen;   // one read, looked at
  struct Pause;  // waiting longer and longer, until patience is over
  enum class Fate { kCounts, kVoid, kUnknown };

  Result<void> catch_up();
  Result<Seen> look();
  bool busy(const Seen& seen);
  Result<bool> take_next(const Seen& seen);
  Result<void> take(const Row* doubt);
  Fate fate(const Seen& seen, const Row& entry);
  Result<Entry> settle(const Row& entry);
  Result<void> seal(const Row& entry);
  Result<void> append(const Row& row);
  Row row(RowKind kind, std::uint64_t turn) const;
  void give_back(std::uint64_t turn);

  Register& reg_;
  Clock clock_;
  Settings settings_;
  std::mt19937_64 random_;
  std::uint64_t writer_;

  View view_;                     // what was sealed when last read
  bool caught_up_ = false;        // it was read once, or given by somebody who had
  std::uint64_t opened_ = 0;      // the highest turn that an earlier read showed open
  std::uint64_t turn_ = 0;        // ours; 0: none
  std::uint64_t alive_said_ = 0;  // in this turn
  Instant said_at_ = {};          // when our last row of this turn was written
  bool in_doubt_ = false;

  // How long the highest turn has shown nothing new.
  struct Silence {
    std::uint64_t turn = 0, rows = 0;
    Instant since = {};
  } silence_;
};

}  // namespace pennyweight::commit_log
