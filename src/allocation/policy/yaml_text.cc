#include "allocation/policy/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/ascii.h"
#include "core/decimal.h"

namespace pennyweight {
namespace {

// Words that some reader of YAML 1.1 or 1.2 takes for a boolean or null.
bool is_word_of_yaml(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no", "on",
                                                             "off",  "null",  "y",   "n"};
  const std::string lower = ascii::lower_case(text);
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

bool is_plain(std::string_view text) {
  if (text.empty() || (!ascii::is_letter(text.front()) && text.front() != '(')) return false;
  if (text.back() == ' ' || is_word_of_yaml(text)) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return ascii::is_letter_or_digit(c) || std::string_view("_-./() ").contains(c);
  });
}

// The characters that must be escaped in a quoted text.
std::string escaped(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\x{:02X}", static_cast<unsigned>(c));
  }
}

// Multi-byte characters that end a line or that no text may contain: C1 controls, the line and
// paragraph separators, the byte order mark, U+FFFE and U+FFFF.
std::pair<std::string, std::size_t> escaped_sequence(std::string_view at) {
  static constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"\u2028", "\\u2028"},
      {"\u2029", "\\u2029"},
      {"\uFEFF", "\\uFEFF"},
      {"\uFFFE", "\\uFFFE"},
      {"\uFFFF", "\\uFFFF"}};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at[i]); };
  if (at.size() >= 2 && byte(0) == 0xC2 && byte(1) < 0xA0) {
    return {fmt::format("\\x{:02X}", static_cast<unsigned>(byte(1))), 2};
  }
  for (const auto& [bytes, escape] : kEscapes) {
    if (at.starts_with(bytes)) return {std::string(escape), bytes.size()};
  }
  return {"", 0};
}

}  // namespace

std::string yaml_text(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (const auto [escape, bytes] = escaped_sequence(text.substr(i)); bytes > 0) {
      quoted += escape;
      i += bytes;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '"' || c == '\\') {
      quoted += escaped(c);
    } else {
      quoted += c;
    }
    ++i;
  }
  return quoted + '"';
}

std::string yaml_list(std::span<const std::string> texts) {
  std::string list = "[";
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ", ";
    list += yaml_text(text);
  }
  return list + "]";
}

std::string permille_text(std::uint32_t permille) {
  return to_text(Decimal::from_ticks(Int128{permille} * (Decimal::kTicksPerUnit / 1000)));
}

std::string duration_text(std::int64_t milliseconds) {
  static constexpr std::pair<std::int64_t, std::string_view> kUnits[] = {
      {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}};
  if (milliseconds == 0) return "0s";
  // An interval of a minute is written as 60s, as Prometheus and its exporters do.
  if (milliseconds == 60'000) return "60s";
  for (const auto& [unit, name] : kUnits) {
    if (milliseconds % unit == 0) return fmt::format("{}{}", milliseconds / unit, name);
  }
  return fmt::format("{}ms", milliseconds);
}

}  // namespace pennyweight
