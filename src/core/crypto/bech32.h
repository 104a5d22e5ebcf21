// Bech32 (BIP 173), in which age writes its keys: a prefix, '1', and bytes with a checksum.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pennyweight {

struct Bech32 {
  std::string prefix;  // in small letters
  std::string bytes;
};

// Nothing: another letter, letters of both sizes, a wrong checksum, or bits left over. Text of any
// length, unlike in BIP 173.
std::optional<Bech32> from_bech32(std::string_view text);

}  // namespace pennyweight
