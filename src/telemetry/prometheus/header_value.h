// Parses values of HTTP headers: whitespace and case do not matter, parameters follow a semicolon.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pennyweight::prometheus {

// A header as an error may quote it: UTF-8, at most 100 bytes.
std::string printable(std::string_view text);

// "text/plain" of "Text/Plain; version=0.0.4".
std::string media_type(std::string_view content_type);
// The value of a parameter, without quotes: "0.0.4" for "version". Nothing: it is not there.
std::optional<std::string> parameter(std::string_view content_type, std::string_view name);

}  // namespace pennyweight::prometheus
