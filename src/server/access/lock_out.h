// Lock-out: after too many wrong passwords, a user or an address must wait. It is stored on disk,
// so that a restart unlocks nobody.
//
// Failures are counted for every typed name, whether the user exists or not, and for addresses;
// both are stored only as keyed hashes, since people type passwords where names belong. The tables
// are bounded: beyond the limit the oldest rows are removed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/instant.h"
#include "server/access/sqlite.h"

namespace pennyweight::access {

inline constexpr std::int64_t kFailuresKeptMax = 100'000;
inline constexpr std::int64_t kLockOutsKeptMax = 20'000;

struct LockOutRule {
  std::uint32_t failures_max;       // this many failures …
  std::chrono::milliseconds lasts;  // … within this time lock out for this long
};

// The addresses that are counted together: one IPv4 address, or the /64 of an IPv6 address, which
// usually belongs to one customer. Other texts stay as they are.
std::string address_group(std::string_view peer);

// `database` has the tables of schema.h. The caller opens a transaction if one is needed.
Result<bool> is_locked_out(SqlDatabase& database, std::string_view key, Instant now);
// During a lock-out further failures don't count, so that an attacker can't extend it.
Result<void> count_failure(SqlDatabase& database, std::string_view key, Instant now,
                           const LockOutRule& rule);
Result<void> clear_failures(SqlDatabase& database, std::string_view key);

}  // namespace pennyweight::access
