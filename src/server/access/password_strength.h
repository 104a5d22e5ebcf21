// How many guesses a password withstands, if somebody tries what people choose before what is
// random: words, names, years, rows of keys, repetitions, with capitals and with digits for
// letters. The password is cut into the parts that are cheapest to guess (after zxcvbn, Wheeler,
// USENIX Security 2016), and their costs are added.
#pragma once

#include <cstdint>
#include <string_view>

namespace pennyweight::access {

// Below it a password is refused: 2^35 guesses.
inline constexpr std::uint32_t kStrengthMin = 350;

// In tenths of a bit. `name` is the user's, which costs next to nothing to guess. Only the first 64
// bytes count; more are enough in any case.
std::uint32_t password_strength(std::string_view password, std::string_view name);

}  // namespace pennyweight::access
