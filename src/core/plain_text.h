// Text from outside, made safe to keep: stores and terminals want well-formed UTF-8 without NUL.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pennyweight {

// The text with every byte that is not part of well-formed UTF-8 (Unicode 15, table 3-7), and every
// NUL, replaced by U+FFFD, cut to at most `bytes_max` bytes between two characters. For showing
// what was refused; a value is refused, never repaired like this.
std::string printable_text(std::string_view text, std::size_t bytes_max);

// Whether the text is well-formed UTF-8 without NUL.
bool is_plain_text(std::string_view text);

}  // namespace pennyweight
