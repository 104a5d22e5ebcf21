#include "ingest/inventory/lists.h"

#include <algorithm>

#include "core/ascii.h"

namespace pennyweight::inventory {
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    parts.push_back(ascii::trim(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::pair<std::string_view, std::string_view> split_pair(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return {ascii::trim(text), {}};
  return {ascii::trim(text.substr(0, equals)), ascii::trim(text.substr(equals + 1))};
}

}  // namespace pennyweight::inventory
