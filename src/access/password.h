// Passwords: which are taken, and how they are kept (argon2id, RFC 9106).
//
// Hashing is slow and takes memory on purpose: nobody does it while he holds a lock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::access {

inline constexpr std::size_t kPasswordCharactersMin = 12;
inline constexpr std::size_t kPasswordBytesMax = 1024;

struct HashCost {
  std::uint32_t kib;
  std::uint32_t rounds;
};

// A password for somebody else, that must be changed at the first sign-in: 100 random bits as 20
// characters in fours, none of which looks like another.
Result<std::string> one_time_password();

// Why a password is refused, or nothing. `name` is the user's.
Result<void> check_new_password(std::string_view password, std::string_view name);

// "$argon2id$v=19$m=…,t=…,p=1$salt$hash", with a salt of its own each time.
Result<std::string> hash_password(std::string_view password, const HashCost& cost);
// Takes as long as hash_password() of the cost that the hash tells, whether it fits or not. An
// Error where it could not be computed.
Result<bool> fits_password(std::string_view password, const std::string& hash);

}  // namespace pennyweight::access
