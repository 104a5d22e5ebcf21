// JSON as it stands in a bill: checked whole, and taken apart without changing a digit.
//
// BigQuery writes numbers as JSON numbers or as strings; either way money must reach the parser of
// decimals as text. A parser that makes doubles of them is out, and one that walks on demand does
// not check what it walks past, so this is a small strict scanner of RFC 8259 over string views.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight::gcp {

enum class JsonKind { kNull, kBool, kNumber, kString, kArray, kObject };

// A value within a text that was checked; lives as long as the text.
struct JsonValue {
  JsonKind kind = JsonKind::kNull;
  std::string_view raw;  // the token or the whole array or object, as it stands
};

struct JsonMember {
  std::string_view raw_key;  // with its quotes
  JsonValue value;
};

// The text as one value, spaces around it allowed. An Error says what is wrong and at which byte;
// deeper nesting than kJsonDepthMax is one.
inline constexpr int kJsonDepthMax = 32;
Result<JsonValue> parse_json(std::string_view text);

// REQUIRES: an object (an array) that parse_json accepted, or a part of one. `out` is replaced.
void members_of(const JsonValue& object, std::vector<JsonMember>& out);
void items_of(const JsonValue& array, std::vector<JsonValue>& out);

// Of a quoted string, without escapes or with them undone. REQUIRES: parse_json accepted it.
std::string unescaped(std::string_view raw_string);

// A string's text, the token of a number, true, false; nothing of null; an array or object without
// the spaces that mean nothing.
std::string text_of(const JsonValue& value);

}  // namespace pennyweight::gcp
