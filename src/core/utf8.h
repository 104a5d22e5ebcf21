// UTF-8, one code point after another: for checks, widths, escapes and cuts.
#pragma once

#include <cstddef>
#include <string_view>

namespace pennyweight {

// How many bytes the well-formed code point at the front of `text` takes (Unicode 15, table 3-7: no
// overlong forms, no surrogates); 0 when there is none. NUL is a code point. REQUIRES: text is not
// empty.
std::size_t code_point_bytes(std::string_view text);

// Whether all of the text is well-formed.
bool is_utf8(std::string_view text);

}  // namespace pennyweight
