// Several things in one cell: "GPU-1;GPU-2", and "n1=4;n2=4".
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace pennyweight::inventory {

// The parts between ';', without the spaces around them. An empty text has no parts; an empty part
// stays, for the caller to refuse.
std::vector<std::string_view> list_of(std::string_view text);

// What stands before and after the last '=', without the spaces around both; no '=' leaves the
// second empty.
std::pair<std::string_view, std::string_view> pair_of(std::string_view text);

}  // namespace pennyweight::inventory
