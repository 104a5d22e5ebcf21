// One code point of UTF-8 after the other: for widths, escapes and cuts.
#pragma once

#include <cstddef>
#include <string_view>

namespace pennyweight {

// How many bytes the well-formed code point at the front of `text` takes (RFC 3629: no overlong
// forms, no surrogates); 0 when there is none. REQUIRES: text is not empty.
std::size_t code_point_bytes(std::string_view text);

}  // namespace pennyweight
