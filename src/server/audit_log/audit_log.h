// AuditLog: records who did what and when, with the state before and after.
//
// It is one file of JSON lines. `serve` and the verbs of the command line append to it; a lock on
// the file orders them, and a line is synced to disk before it is acknowledged. Each line holds the
// SHA-256 of the line before it, so verify() finds changed, removed and inserted lines. A line cut
// off at the end is found if the head is known from elsewhere.
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
// One line of the log.
struct Entry {
  std::uint64_t number = 0;  // 1, 2, …; set by append
  Instant at;                // set by append
  std::string actor;         // "ana", "token pwt_1a2b (ana)", "cli:root", "serve", "system"
  std::string peer;          // address; empty: none
  std::string action;        // "sign_in", "sign_in_failed", "user.add", "period.close", "import", …
  std::string subject;       // what it is about: "user bo", "month 2026-03"
  std::string before;        // JSON; empty: did not exist. Never a secret.
  std::string after;         // JSON; empty: no longer exists
  std::string hash;          // of this line, hexadecimal; set by append
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
  std::uint64_t bad_line = 0;  // the first one, from 1; 0: none
  std::string reason;          // what is wrong with it
};

class AuditLog {
 public:
  static Result<std::unique_ptr<AuditLog>> open(const std::string& path, Clock& clock);
  virtual ~AuditLog() = default;
  // Safe to call from several threads and several processes.
  virtual Result<Head> append(Entry entry) = 0;
  virtual Result<Head> head() = 0;
  // The entries that pass, the newest first: at most `at_most`, with numbers below `before` (0: no
  // limit).
  virtual Result<std::vector<Entry>> entries(std::uint64_t before, std::size_t at_most,
                                             const std::function<bool(const Entry&)>& passes) = 0;
};

// Checks the whole file. With a head known from elsewhere, finds lines cut off at the end as well.
Result<Verdict> verify(const std::string& path, const std::optional<Head>& known = {});

}  // namespace pennyweight::audit_log
