// Register: a list that many may append to and read, and nothing else: what a replicated table with
// a quorum gives, and all that the log of commits needs.
//
// REQUIRES of whoever implements it: a row, once there, stays. append() answers success only when
// its row is there. A read holds every row that was there when it began, and none that was not yet
// there when it ended; of the rows that came meanwhile any part. An append that failed may have
// been done, and may still be done some time later; appending the same row again is harmless.
//
// This asks for less than linearizability (where a read is a prefix of one order), since a server
// that fetches parts side by side can't give it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::commit_log {

// A writer is a number that nobody else has: random, 64 bits. A session likewise.
enum class RowKind {
  kClaim,    // "I want this turn"
  kOpen,     // "this turn is mine, and goes on from here"
  kEntry,    // "this session is to count"; whether it does is not yet known
  kSealed,   // "this entry counts, now and always": all that readers go by
  kRelease,  // "I want no more of this turn"
  kAlive,    // "I still use this turn"
};

struct Row {
  RowKind kind = RowKind::kClaim;
  std::uint64_t turn = 0;      // 1, 2, …; of kSealed: of the entry
  std::uint64_t writer = 0;    // who wrote this row
  std::uint64_t position = 0;  // of kEntry and kSealed: 1, 2, …; of kOpen: the last position that
                               // counts; of kAlive: how many times it was said in this turn
  std::string prefix = {};     // of kOpen: the turn of the entry at that position, in decimal; "0"
                               // where there is none
  std::uint64_t session = 0;   // of kEntry and kSealed
  std::string what = {};       // of kEntry and kSealed: "import", "run", "closing", "invoices", …
  Instant at = {};             // by the writer's clock: for leases only
  bool operator==(const Row&) const = default;
};

class Register {
 public:
  virtual ~Register() = default;
  virtual Result<void> append(const Row& row) = 0;
  // The rows of `from_turn` and of every later turn, in any order, perhaps some of them twice.
  virtual Result<std::vector<Row>> read(std::uint64_t from_turn) = 0;
};

}  // namespace pennyweight::commit_log
