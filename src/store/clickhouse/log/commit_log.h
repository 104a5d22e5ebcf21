// CommitLog: one order of all commits, agreed on by writers that share only a Register.
//
// Who wants to commit takes a *turn*: he claims the next number, reads, and has it if nobody else
// claimed it or a later one. He opens it by writing down up to which position the log counts, and
// of which turns; from then on entries of earlier turns beyond it are void, whoever still writes
// them. An entry counts once its writer has read, after writing it, that nobody has claimed a later
// turn; where somebody has, the opening of that turn tells whether it counts. A turn ends by being
// released, or by its writer's silence for `lease`. Clocks decide only when somebody else may try,
// never what counts.
//
// At most one entry of a position counts, what counts once counts for ever, and commit() answers
// success exactly where its entry counts. docs/ARCHITECTURE.md argues why.
//
// One CommitLog is used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "store/clickhouse/log/register.h"

namespace pennyweight::commit_log {

struct Entry {
  std::uint64_t position = 0;  // 1, 2, … without gaps
  std::uint64_t turn = 0;
  std::uint64_t session = 0;
  std::string what;
  bool operator==(const Entry&) const = default;
};

struct View {
  std::vector<Entry> entries;        // those that count, by position
  std::vector<std::uint64_t> voids;  // sessions of entries that never will, sorted
};
// What counts, told from the rows alone: every reader of the same rows says the same.
View view_of(const std::vector<Row>& rows);

struct Clock {
  std::function<Instant()> now;
  std::function<void(std::chrono::milliseconds)> sleep;
};

struct Settings {
  std::chrono::milliseconds lease{30'000};      // after so much silence a turn is somebody else's
  std::chrono::milliseconds patience{120'000};  // how long begin() waits for its turn
  std::chrono::milliseconds back_off{50};       // at first; doubled, with a random part, up to 2 s
};

class CommitLog {
 public:
  // `reg` and `clock` live longer. `seed`: of writer numbers and of the random part of waiting.
  CommitLog(Register& reg, Clock clock, Settings settings, std::uint64_t seed);

  // Reads; gives what counts now.
  Result<View> read();
  // Waits for a turn, takes it, and gives what counts up to it: nobody else commits before
  // release() or the end of the lease. An Error of kStore ("another writer …") when patience is
  // over.
  Result<View> begin();
  // Says that this turn is still used: call it at least every lease / 3 while working in it. An
  // Error once the turn is somebody else's.
  Result<void> alive();
  // Puts a session's entry behind all that counts. An Error where it does not count, or where that
  // could not be found out in time (its message says which, and then in_doubt() holds).
  Result<Entry> commit(std::uint64_t session, const std::string& what);
  bool in_doubt() const;
  // Gives the turn back; also an error is no harm: the lease ends by itself.
  Result<void> release();
  bool has_turn() const;

 private:
  // (to be added by whoever writes commit_log.cc)
};

}  // namespace pennyweight::commit_log
