// Writes, hashes and reads one line of the audit log.
//
//   {"number":7,"at":"2026-03-01T09:00:00Z","actor":"ana","peer":"","action":"user.add",
//    "subject":"user bo","before":null,"after":{"role":"viewer"},"hash":"64 digits"}
//
// without line breaks in it. The hash is SHA-256 over the hash of the line before (for the first
// line, 64 zeros) and the bytes of this line up to its hash, so that each line vouches for all
// before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::audit_log {

inline constexpr std::size_t kNameBytesMax = 1024;        // actor, peer, action, subject
inline constexpr std::size_t kJsonBytesMax = 256u << 10;  // before, after
inline constexpr std::size_t kLineBytesMax = 1u << 20;    // without its newline
// The hash before the first line.
inline constexpr std::string_view kNoHash =
    "0000000000000000000000000000000000000000000000000000000000000000";

// Writes an entry as a line without its newline, and sets entry.hash. Errors: a field exceeds its
// limit, text is not UTF-8, `before` or `after` is not JSON.
Result<std::string> write_line(Entry& entry, std::string_view hash_before);

// Reads a line. An Error says what is wrong with the line itself; its hash is checked with
// hash_of_line().
Result<Entry> read_line(std::string_view line);

// The hash that the line must have. REQUIRES: read_line() accepts the line.
std::string hash_of_line(std::string_view line, std::string_view hash_before);

// Checks that each line continues the one before.
class Chain {
 public:
  // Starts behind a line known to be right; by default, at the beginning.
  explicit Chain(Head head = {}) : head_(std::move(head)) {}
  // Returns the entry if the line is the next one; an Error says why it is not.
  Result<Entry> add(std::string_view line);
  const Head& head() const { return head_; }

 private:
  Head head_;
};

// Verifies a log whose bytes come in pieces.
class Verifier {
 public:
  explicit Verifier(std::optional<Head> known = {}) : known_(std::move(known)) {}
  // Returns false once something is wrong.
  bool add(std::string_view bytes);
  // Each entry that continues the chain, in order.
  std::function<void(const Entry&)> take = {};
  // REQUIRES: add() is not called after it.
  Verdict finish();

 private:
  bool add_line(std::string_view line);
  bool refuse(std::string reason);

  std::optional<Head> known_;
  Chain chain_;
  std::string rest_;  // the beginning of a line that continues in the next piece
  std::uint64_t line_ = 0;
  std::optional<Verdict> bad_;
  std::vector<Entry> accepted_, adopted_;
};

}  // namespace pennyweight::audit_log
