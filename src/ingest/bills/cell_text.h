// What all readers of bills understand of a cell's text: which texts are null, and how much of a
// bad text a message shows.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight::bill {

// NULL, null and \N: outside quotes they stand for null, as databases and query engines write it.
constexpr bool is_null_word(std::string_view text) {
  if (text.size() == 2) return text == "\\N";
  return text.size() == 4 && (text == "NULL" || text == "null");
}

// For a number, time or code, where these words can't be texts, in quotes or not.
constexpr bool is_null(std::string_view text) { return text.empty() || is_null_word(text); }

// For a text, where these words are null only outside quotes: empty for null.
constexpr std::string_view text_or_null(std::string_view text, bool is_quoted) {
  return !is_quoted && is_null_word(text) ? std::string_view{} : text;
}

// The beginning of a text, for a message.
inline std::string excerpt(std::string_view text) { return std::string(text.substr(0, 60)); }

}  // namespace pennyweight::bill
