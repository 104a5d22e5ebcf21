#include "testing/generate/bills/json_text.h"

#include <fmt/format.h>

#include "core/json_text.h"

namespace pennyweight::bills {

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
