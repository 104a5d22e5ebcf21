// LogStorage: a list that many may append to and read, and nothing else: what a replicated table
// with a quorum gives, and all that the log of commits needs.
//
// Every implementation must ensure: a row, once there, stays. append() answers success only when
// its row is there. A read (of rows or of seals) holds every row of those it asks for that was
// there when it began, and none that was not yet there when it ended; of the rows that came
// meanwhile any part. An append that failed may have been done, and may still be done some time
// later; appending the same row again is harmless.
//
// This asks for less than linearizability (where a read is a prefix of one order), since a server
// that fetches parts side by side can't give it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

// "claim", "open", "entry", "sealed", "release", "alive": as the table has them.
std::string_view to_text(RowKind kind);
std::optional<RowKind> parse_row_kind(std::string_view text);

struct LogRow {
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
  bool operator==(const LogRow&) const = default;
};

// What a row of kSealed says of its entry.
struct SealedEntry {
  std::uint64_t position = 0;
  std::uint64_t turn = 0;
  std::uint64_t session = 0;
  std::string_view what = {};  // lives as long as the call that hands it over
};

// From where on rows are asked for: the last entry that is known to count. Nothing: from the first.
struct LogPosition {
  std::uint64_t turn = 0;
  std::uint64_t position = 0;
};

class LogStorage {
 public:
  virtual ~LogStorage() = default;
  virtual Result<void> append(const LogRow& row) = 0;
  // The rows of since.turn and of every later turn, in any order, perhaps some of them twice. Seals
  // of positions before since.position may be left out.
  virtual Result<std::vector<LogRow>> read(const LogPosition& since) = 0;
  // Of the same rows the seals alone, one by one, so that nobody holds them all as rows. What was
  // handed over of a read that ends in an Error is not to be used.
  using SealSink = std::function<void(const SealedEntry&)>;
  virtual Result<void> seals(const LogPosition& since, const SealSink& sink) = 0;
};

}  // namespace pennyweight::commit_log
