#include "simulate/bills/json_text.h"

#include <fmt/format.h>

namespace pennyweight::bills {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json_object(std::span<const TextPair> members) {
  std::string out = "{";
  for (const auto& [key, value] : members) {
    if (out.size() > 1) out += ',';
    out += json_string(key) + ':' + json_string(value);
  }
  return out + '}';
}

std::string json_members(std::span<const TextPair> members) {
  std::string out;
  for (const auto& [key, value] : members) {
    if (!out.empty()) out += ',';
    out += json_string(key) + ": " + json_string(value);
  }
  return out;
}

}  // namespace pennyweight::bills
