// Suggests the name that was meant for one that is mistyped.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pennyweight {

// How many single-letter edits turn one name into the other; swapping two neighbours is one edit.
std::size_t edit_distance(std::string_view a, std::string_view b);

// "; did you mean 'store'?" for the end of an error message; empty where no name is close.
std::string suggestion(std::string_view name, std::span<const std::string> known);

}  // namespace pennyweight
