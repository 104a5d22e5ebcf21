// Writes JSON strings. (simdjson reads them.)
#pragma once

#include <string>
#include <string_view>

namespace pennyweight {

// Appends `text` in quotes, escaped as RFC 8259 requires. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

// The same, as facts of the ledger hold it: only what RFC 8259 demands is escaped. These bytes are
// part of the fingerprints of stored facts, so they never change. REQUIRES: `text` is UTF-8.
void append_stored_json_string(std::string& out, std::string_view text);

}  // namespace pennyweight
