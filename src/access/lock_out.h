// Lock-out: who guessed wrong too often waits. On disk, so that a restart frees nobody.
//
// Kept for whatever was typed as a name, whether there is such a user or not, and for addresses;
// both only as a keyed hash, since people type passwords where names belong. The tables have an
// end: beyond it the oldest go.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "access/sqlite.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::access {

inline constexpr std::int64_t kFailuresKeptMax = 100'000;
inline constexpr std::int64_t kLockOutsKeptMax = 20'000;

struct LockOutRule {
  std::uint32_t failures_max;       // so many …
  std::chrono::milliseconds lasts;  // … within this lock out for this long
};

// Who is counted together: an IPv4 address, or the /64 that an IPv6 address is in, of which one
// customer has them all. Anything else as it is.
std::string address_group(std::string_view peer);

// `database` has the tables of schema.h; within a transaction of the caller's where he needs one.
Result<bool> is_locked_out(SqlDatabase& database, std::string_view key, Instant now);
// While it lasts further failures don't count, so that nobody is kept out by those who go on.
Result<void> count_failure(SqlDatabase& database, std::string_view key, Instant now,
                           const LockOutRule& rule);
Result<void> forgive(SqlDatabase& database, std::string_view key);

}  // namespace pennyweight::access
