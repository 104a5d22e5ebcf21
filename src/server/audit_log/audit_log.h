// AuditLog: records who did what and when, with the state before and after.
//
// It is one file of JSON lines. `serve` and the verbs of the command line append to it; a lock on
// the file orders them, and a line is synced to disk before it is acknowledged. Each line holds the
// SHA-256 of the line before it, so verify() finds changed, removed and inserted lines. The head is
// kept signed beside the log (kept_head.h) and, if so configured, anchored elsewhere: a log that
// was cut, continued or rewritten by anything but append() is refused by open() and append(), until
// somebody accepts it, which marks it for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::audit_log {

// One line of the log.
struct Entry {
  std::uint64_t number = 0;  // 1, 2, …; set by append
  Instant at = {};           // set by append
  std::string actor = {};    // "ana", "token pwt_1a2b (ana)", "cli:root", "serve", "system"
  std::string peer = {};     // address; empty: none
  std::string action = {};   // "sign_in", "sign_in_failed", "user.add", "period.close", "import", …
  std::string subject = {};  // what it is about: "user bo", "month 2026-03"
  std::string before = {};   // JSON; empty: did not exist. Never a secret.
  std::string after = {};    // JSON; empty: no longer exists
  std::string hash = {};     // of this line, hexadecimal; set by append
};

// The last line of a log.
struct Head {
  std::uint64_t number = 0;
  std::string hash;
  bool operator==(const Head&) const = default;
};

// A head as text, to store it elsewhere: "17:9f86d0…". Errors of parse_head(): anything but a
// number from 1 on, a ':', and 64 hexadecimal digits in lower case.
std::string write_head(const Head& head);
Result<Head> parse_head(std::string_view text);

// The result of verify().
struct Verdict {
  bool whole = false;
  Head head;
  std::uint64_t bad_line = 0;        // the first one, from 1; 0: none
  std::string reason;                // what is wrong with it
  std::vector<Entry> accepted = {};  // entries of kAcceptedAction: known damage, marked for ever
  std::vector<Entry> adopted = {};   // entries of kAdoptedAction
};

// Where a log and what proves it lie.
struct LogFiles {
  std::string log = {};
  std::string key = {};     // signs the heads; made if there is none
  std::string head = {};    // the signed head
  std::string anchor = {};  // every head is also added to this file; empty: none
  bool syslog = false;      // every head is also sent to the system's log
  // The usual places: beside the log.
  static LogFiles beside(const std::string& log) {
    return {.log = log, .key = log + ".key", .head = log + ".head", .anchor = "", .syslog = false};
  }
};

// Actions of the log's own entries.
inline constexpr std::string_view kTornAction = "trail.torn";
// Entries before it were written by a version that kept no signed head.
inline constexpr std::string_view kAdoptedAction = "trail.adopted";
// Somebody accepted a log that did not end with the kept head.
inline constexpr std::string_view kAcceptedAction = "trail.accepted";

class AuditLog {
 public:
  // An Error of kConflict: the log is not the one that was kept, and nothing may be recorded in it.
  static Result<std::unique_ptr<AuditLog>> open(const LogFiles& files, Clock& clock);
  static Result<std::unique_ptr<AuditLog>> open(const std::string& path, Clock& clock) {
    return open(LogFiles::beside(path), clock);
  }
  // Only for head() and entries(): changes nothing, and opens damaged logs too.
  static Result<std::unique_ptr<AuditLog>> open_to_read(const std::string& path, Clock& clock);
  virtual ~AuditLog() = default;
  // Safe to call from several threads and several processes. When it returns, the entry is on disk;
  // after an Error it isn't in the log.
  virtual Result<Head> append(Entry entry) = 0;
  virtual Result<Head> head() = 0;
  // Whether the log has this very entry. Number 0: true.
  virtual Result<bool> has(const Head& known) = 0;
  // The entries that pass, the newest first: at most `at_most`, with numbers below `before` (0: no
  // limit).
  virtual Result<std::vector<Entry>> entries(std::uint64_t before, std::size_t at_most,
                                             const std::function<bool(const Entry&)>& passes) = 0;
};

// Checks the whole file. With a head known from elsewhere, finds lines cut off at the end as well.
Result<Verdict> verify(const std::string& path, const std::optional<Head>& known = {});

// The same for a log with its kept head and its anchor, where they can be read: finds lines cut off
// or added at the end without a head known from elsewhere.
Result<Verdict> verify(const LogFiles& files, const std::optional<Head>& known = {});

// Hands out the entries from the first on, as far as the log reaches now and is whole.
Result<void> for_each_entry(const std::string& path, const std::function<void(const Entry&)>& take);

// Appends an entry to a log that is not the kept one, and keeps its head from then on. A log that
// is missing is begun anew. An Error: its last line can't be read.
Result<Head> accept(const LogFiles& files, Entry entry, Clock& clock);

}  // namespace pennyweight::audit_log
