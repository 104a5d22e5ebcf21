// JSON strings, written. Reading is simdjson's.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight {

// Appends `text` in quotes, escaped as RFC 8259 wants. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace pennyweight
