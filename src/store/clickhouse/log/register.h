// Register: a list that many may append to and read, and nothing else: what a replicated table with
// a quorum gives, and all that the log of commits needs.
//
// REQUIRES of whoever implements it (linearizability): a read that begins after an append ended
// holds its row; what one read held every later read holds. An append that failed may have been
// done, and may still be done some time later; appending the same row again is harmless.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::commit_log {

// A writer is a number that nobody else has: random, 64 bits. A session likewise.
enum class RowKind { kClaim, kOpen, kEntry, kRelease, kAlive };

struct Row {
  RowKind kind = RowKind::kClaim;
  std::uint64_t turn = 0;      // 1, 2, …
  std::uint64_t writer = 0;    // whose turn
  std::uint64_t position = 0;  // of an entry: 1, 2, …; of kOpen: the last position that counts;
                               // of kAlive: how many times it was said in this turn
  std::string prefix = {};     // of kOpen: which turns the positions before it are of
  std::uint64_t session = 0;   // of an entry
  std::string what = {};       // of an entry: "import", "run", "closing", "invoices", …
  Instant at = {};             // by the writer's clock: for leases only
  bool operator==(const Row&) const = default;
};

class Register {
 public:
  virtual ~Register() = default;
  virtual Result<void> append(const Row& row) = 0;
  virtual Result<std::vector<Row>> read() = 0;  // in any order
};

}  // namespace pennyweight::commit_log
