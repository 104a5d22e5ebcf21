// "Did you mean …?" for a name that was mistyped.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pennyweight {

// How many single-letter edits lie between two names; swapping two neighbours is one edit.
std::size_t edit_distance(std::string_view a, std::string_view b);

// "; did you mean 'store'?", or nothing where no name is close. For the end of an error message.
std::string suggestion(std::string_view name, std::span<const std::string> known);

}  // namespace pennyweight
