// Lock-out: after wrong passwords, the next attempt must wait. It is stored on disk, so that a
// restart unlocks nobody.
//
// Failures are counted three times. For a user at an address: after a few, each further one doubles
// the wait, so that guessing is slow and nobody else is shut out. For an address, and for a user
// from anywhere: after many more, for those who try many users or from many addresses; devices from
// which the user has signed in before are exempt from these two, so that strangers can't shut a
// user out, nor one user everybody behind the same address.
//
// Failures count for every typed name, whether the user exists or not. Names and addresses are
// stored only as keyed hashes, since people type passwords where names belong. The tables are
// bounded: beyond the limit the oldest rows are removed.
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

inline constexpr std::int64_t kKnownDevicesMax = 100'000;
inline constexpr std::chrono::days kDeviceKnownFor{90};
// A failure is forgotten after this time at the latest.
inline constexpr std::chrono::hours kFailureKeptFor{24};

struct LockOutRule {
  std::uint32_t failures_max;        // from this many failures …
  std::chrono::milliseconds within;  // … in this time on: wait
  std::chrono::milliseconds first;   // for so long, and twice as long after each further one,
  std::chrono::milliseconds most;    // up to this
};

// The addresses that are counted together: one IPv4 address, or the /64 of an IPv6 address, which
// usually belongs to one customer. Other texts stay as they are.
std::string address_group(std::string_view peer);

// `database` has the tables of schema.h. The caller opens a transaction if one is needed.
// How long the key must still wait; 0: it is not locked out.
Result<std::chrono::milliseconds> lock_out_left(SqlDatabase& database, std::string_view key,
                                                Instant now);
// During a lock-out further failures don't count, so that an attacker can't extend it.
Result<void> count_failure(SqlDatabase& database, std::string_view key, Instant now,
                           const LockOutRule& rule);
// Forgets the failures and lock-outs of all keys that begin with this one.
Result<void> clear_failures(SqlDatabase& database, std::string_view key);
Result<void> remember_device(SqlDatabase& database, std::string_view key, Instant now);
Result<bool> is_known_device(SqlDatabase& database, std::string_view key, Instant now);

}  // namespace pennyweight::access
