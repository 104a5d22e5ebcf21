// Splits lists in one cell: "GPU-1;GPU-2", and "n1=4;n2=4".
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace pennyweight::inventory {

// The parts between ';', without the spaces around them. An empty text has no parts; an empty part
// stays, for the caller to refuse.
std::vector<std::string_view> split_list(std::string_view text);

// The parts before and after the last '=', without spaces around them; without '=' the second is
// empty.
std::pair<std::string_view, std::string_view> split_pair(std::string_view text);

}  // namespace pennyweight::inventory
