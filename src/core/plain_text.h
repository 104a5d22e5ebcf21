// Plain text: well-formed UTF-8 without NUL, as stores and terminals need it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pennyweight {

// The text with U+FFFD for every NUL and every byte that is not part of well-formed UTF-8, cut
// between two characters to at most `bytes_max` bytes. It is for showing what was refused: a value
// that is not plain text is refused, never repaired like this.
std::string printable_text(std::string_view text, std::size_t bytes_max);

// Whether the text is well-formed UTF-8 without NUL.
bool is_plain_text(std::string_view text);

}  // namespace pennyweight
