// Trail: the audit log. Who did what, when, and what it was before and after.
//
// One file of JSON lines, appended and synced before it is acknowledged, by `serve` and by verbs of
// the command line alike (a lock on the file orders them). Each line has the SHA-256 of the one
// before it, so that a changed, removed or inserted line is found by verify(); one that is cut off
// at the end is found where the head is known from elsewhere.
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

namespace pennyweight::trail {

struct Entry {
  std::uint64_t number = 0;  // 1, 2, …; set by append
  Instant at;                // set by append
  std::string actor;         // "ana", "token pwt_1a2b (ana)", "cli:root", "serve", "system"
  std::string peer;          // address; empty: none
  std::string action;        // "sign_in", "sign_in_failed", "user.add", "period.close", "import", …
  std::string subject;       // what it is about: "user bo", "month 2026-03"
  std::string before;        // JSON; empty: was not there. Never a secret.
  std::string after;         // JSON; empty: is not there any more
  std::string hash;          // of this line, hexadecimal; set by append
};

struct Head {
  std::uint64_t number = 0;
  std::string hash;
  bool operator==(const Head&) const = default;
};

// "17:9f86d0…", as it is kept elsewhere and read again. Errors: no number from 1 on, no ':', or no
// 64 hexadecimal digits in small letters behind it.
std::string write_head(const Head& head);
Result<Head> parse_head(std::string_view text);

struct Verdict {
  bool whole = false;
  Head head;
  std::uint64_t bad_line = 0;  // the first; 0: none
  std::string reason;          // of it
};

class Trail {
 public:
  static Result<std::unique_ptr<Trail>> open(const std::string& path, Clock& clock);
  virtual ~Trail() = default;
  // Thread-safe, and safe against other processes.
  virtual Result<Head> append(Entry entry) = 0;
  virtual Result<Head> head() = 0;
  // The newest first: those with a number below `before` (0: all), at most `at_most`, that pass.
  virtual Result<std::vector<Entry>> entries(std::uint64_t before, std::size_t at_most,
                                             const std::function<bool(const Entry&)>& passes) = 0;
};

// Reads the whole file. With a head that is known from elsewhere also what was cut off is found.
Result<Verdict> verify(const std::string& path, const std::optional<Head>& known = {});

}  // namespace pennyweight::trail
