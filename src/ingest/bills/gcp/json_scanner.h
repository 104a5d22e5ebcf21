// Scans JSON in a bill: checks the whole text and takes it apart without changing a digit.
//
// BigQuery writes numbers as JSON numbers or as strings; either way money must reach the decimal
// parser as text. A parser that returns doubles is not exact, and an on-demand parser does not
// check what it skips, so this is a small strict scanner of RFC 8259 over string views.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight::gcp {

enum class JsonKind { kNull, kBool, kNumber, kString, kArray, kObject };

// A value in a checked text; lives as long as the text.
struct JsonValue {
  JsonKind kind = JsonKind::kNull;
  std::string_view raw;  // the token, or the whole array or object, as written
};

struct JsonMember {
  std::string_view raw_key;  // with its quotes
  JsonValue value;
};

// Parses a text as one value, with whitespace around it. An Error says what is wrong and at which
// byte, also for deeper nesting than kJsonDepthMax.
inline constexpr int kJsonDepthMax = 32;
Result<JsonValue> parse_json(std::string_view text);

// REQUIRES: an object (an array) that parse_json accepted, or a part of one. `out` is replaced.
void members_of(const JsonValue& object, std::vector<JsonMember>& out);
void items_of(const JsonValue& array, std::vector<JsonValue>& out);

// The text of a quoted string, escapes undone. REQUIRES: parse_json accepted it.
std::string unescaped(std::string_view raw_string);

// The text of a string; the token of a number, true or false; empty for null; an array or object
// without insignificant whitespace.
std::string text_of(const JsonValue& value);

}  // namespace pennyweight::gcp
