// Whether bytes are well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates.
#pragma once

#include <cstddef>
#include <string_view>

namespace pennyweight::csv {

// The offset of the first byte that is not well-formed UTF-8 or is NUL; text.size() if all is well.
std::size_t first_bad_byte(std::string_view text);

}  // namespace pennyweight::csv
