// Sweep: what programs that died left in the tables goes.
//
// Every row is written before its session counts, so who dies leaves rows that nobody sees and that
// stay for ever. A sweep notes which sessions have rows and no entry in the log. One that an
// earlier sweep noted more than `patience` ago is condemned: under a turn, the log gets an entry
// that says so. From then on its writer, if he only slept, is refused to commit it (turn.h), as a
// session has one entry and whose turn it is reads them all. Only then are its rows deleted; rows
// that the writer still adds go with a later sweep.
//
// So no clock decides what counts: a wrong one, or a patience that is too short, costs a writer who
// is alive his work, which he is told, and never a row that counts.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/error.h"
#include "store/clickhouse/clickhouse_store.h"

namespace pennyweight {

struct Swept {
  std::uint64_t waiting = 0;    // sessions that have rows, don't count, and may still
  std::uint64_t condemned = 0;  // by this sweep
  std::uint64_t cleared = 0;    // sessions whose rows the servers were told to delete
};

// At most so many sessions are condemned at once; the next sweep goes on.
inline constexpr std::size_t kCondemnedAtOnceMax = 1'000;

// Deletes nothing itself: servers do it by and by. REQUIRES: the options may write.
Result<Swept> sweep_clickhouse(const ClickhouseOptions& options,
                               std::chrono::milliseconds patience);

}  // namespace pennyweight
