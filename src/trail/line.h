// One line of the audit log: how an entry is written, hashed and read again.
//
//   {"number":7,"at":"2026-03-01T09:00:00Z","actor":"ana","peer":"","action":"user.add",
//    "subject":"user bo","before":null,"after":{"role":"viewer"},"hash":"64 digits"}
//
// without line ends in it. The hash is SHA-256 over the hash of the line before (for the first, 64
// zeros) and the bytes of this line up to its hash, so that each line vouches for all before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "trail/trail.h"

namespace pennyweight::trail {

inline constexpr std::size_t kNameBytesMax = 1024;        // actor, peer, action, subject
inline constexpr std::size_t kJsonBytesMax = 256u << 10;  // before, after
inline constexpr std::size_t kLineBytesMax = 1u << 20;    // without its end
// What stands for the hash of a line before the first.
inline constexpr std::string_view kNoHash =
    "0000000000000000000000000000000000000000000000000000000000000000";

// The line without its end, and sets entry.hash. Errors: a field that is over its limit, text that
// is not UTF-8, `before` or `after` that is no JSON.
Result<std::string> write_line(Entry& entry, std::string_view hash_before);

// The other way. An Error says what is wrong with the line by itself; whether its hash is right is
// asked of hash_of_line().
Result<Entry> read_line(std::string_view line);

// The hash that the line has to bear after that one. REQUIRES: read_line() has read it.
std::string hash_of_line(std::string_view line, std::string_view hash_before);

// Holds lines together, one after another from the first.
class Chain {
 public:
  // From a line that is known to be right; without: from the beginning.
  explicit Chain(Head head = {}) : head_(std::move(head)) {}
  // The entry, where it is the next one; an Error says why it is not.
  Result<Entry> add(std::string_view line);
  const Head& head() const { return head_; }

 private:
  Head head_;
};

// What verify() says of bytes that come in pieces.
class Verification {
 public:
  explicit Verification(std::optional<Head> known = {}) : known_(std::move(known)) {}
  // Whether to go on: nothing is wrong so far.
  bool add(std::string_view bytes);
  // REQUIRES: nothing is added after it.
  Verdict finish();

 private:
  bool add_line(std::string_view line);
  bool refuse(std::string reason);

  std::optional<Head> known_;
  Chain chain_;
  std::string rest_;  // of a line that goes on in the next piece
  std::uint64_t line_ = 0;
  std::optional<Verdict> bad_;
};

}  // namespace pennyweight::trail
