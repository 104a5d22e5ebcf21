// Which passwords are accepted, and how they are stored (argon2id, RFC 9106).
//
// Hashing is slow and takes memory on purpose: never do it while holding a lock.
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

// A password that must be changed at the first sign-in: 100 random bits as 20 characters in groups
// of four, of letters and digits that can't be confused.
Result<std::string> one_time_password();
// The same with this many characters of 5 random bits each.
Result<std::string> readable_secret(std::size_t characters);

// An Error says why a password is refused. `name` is the user's.
Result<void> check_new_password(std::string_view password, std::string_view name);

// "$argon2id$v=19$m=…,t=…,p=1$salt$hash", with a new salt each time.
Result<std::string> hash_password(std::string_view password, const HashCost& cost);
// Takes as long as hash_password() with the cost in the hash, whether the password is right or not.
// An Error: the hash could not be computed.
Result<bool> verify_password(std::string_view password, const std::string& hash);

}  // namespace pennyweight::access
