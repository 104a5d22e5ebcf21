// Secrets in memory: made of random bytes, compared in constant time, wiped after use.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight {

// From the operating system's random number generator, through OpenSSL.
Result<std::string> random_bytes(std::size_t count);

// Whether both have the same bytes. Two of one length take as long wherever they differ.
bool is_same_secret(std::string_view a, std::string_view b);

// Overwrites a secret that is no longer needed, even where the compiler sees no reason to.
void wipe(std::string& secret);

}  // namespace pennyweight
