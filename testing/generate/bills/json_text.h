// Texts and flat objects as JSON, for the columns and files of generated bills.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pennyweight::bills {

using TextPair = std::pair<std::string, std::string>;
// {"a":"b","c":"d"}
std::string json_object(std::span<const TextPair> members);
// The same without the braces, and with a space after each colon, as Azure writes tags:
// "a": "b","c": "d"
std::string json_members(std::span<const TextPair> members);

}  // namespace pennyweight::bills
