// Sweep: deletes the rows that dead programs left in the tables.
//
// Rows are written before their session counts, so a program that dies leaves rows that nobody sees
// and that would stay for ever. A sweep notes which sessions have rows but no entry in the commit
// log. A session that an earlier sweep noted more than `patience` ago is condemned: the log gets an
// entry that says so. If its writer was only asleep, it can no longer commit the session
// (commit_turn.h), since a session has at most one entry. Only then are the rows deleted; rows that
// the writer still adds go with a later sweep.
//
// So no clock decides what counts. A wrong clock or too short a patience costs a live writer its
// work, with an error, but never a row that counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string_view>

#include "core/error.h"
#include "ledger/store/clickhouse/clickhouse_store.h"

namespace pennyweight {

struct SweepResult {
  std::uint64_t waiting = 0;    // sessions that have rows and may still be committed
  std::uint64_t condemned = 0;  // by this sweep
  std::uint64_t cleared = 0;    // sessions whose rows the servers were asked to delete
};

// How many sessions one sweep condemns at most; the next sweep continues.
inline constexpr std::size_t kCondemnedAtOnceMax = 1'000;

// The servers delete the rows in the background. REQUIRES: the options allow writing.
Result<SweepResult> sweep_clickhouse(const ClickhouseOptions& options,
                                     std::chrono::milliseconds patience);

// Every whole number in a text, such as the sessions in a DELETE statement.
std::set<std::uint64_t> numbers_in(std::string_view text);

}  // namespace pennyweight
