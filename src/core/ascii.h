// Letters, digits and blanks of ASCII, whatever the locale says; other bytes are none of these and
// pass through unchanged.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace pennyweight::ascii {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_lower(c) || is_upper(c); }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

// Whether two texts differ at most in the case of their letters.
constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

// At least one digit, and nothing else.
constexpr bool is_all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

inline constexpr std::string_view kBlanks = " \t";
inline constexpr std::string_view kWhitespace = " \t\r\n";

// `text` without those of `characters` that it begins and ends with.
constexpr std::string_view trim(std::string_view text, std::string_view characters = kBlanks) {
  const std::size_t first = text.find_first_not_of(characters);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(characters) - first + 1);
}

}  // namespace pennyweight::ascii
