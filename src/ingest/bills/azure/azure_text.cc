#include "ingest/bills/azure/azure_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"

namespace pennyweight::azure {
namespace {

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii::to_lower, ascii::to_lower);
}

}  // namespace

bool equal_ignoring_case_and_spaces(std::string_view text, std::string_view word) {
  std::size_t i = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    if (i == word.size() || ascii::to_lower(c) != ascii::to_lower(word[i])) return false;
    ++i;
  }
  return i == word.size();
}

bool starts_with_ignoring_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && same_letters(text.substr(0, start.size()), start);
}

std::size_t find_ignoring_case(std::string_view text, std::string_view part) {
  const auto found = std::ranges::search(text, part, {}, ascii::to_lower, ascii::to_lower);
  return found.empty() ? std::string_view::npos
                       : static_cast<std::size_t>(found.begin() - text.begin());
}

std::string_view last_segment(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string resource_type_of(std::string_view id) {
  constexpr std::string_view kProviders = "/providers/";
  std::size_t at = std::string_view::npos;
  for (std::size_t i = 0; i < id.size();) {
    const std::size_t found = find_ignoring_case(id.substr(i), kProviders);
    if (found == std::string_view::npos) break;
    at = i + found + kProviders.size();
    i = at;
  }
  if (at == std::string_view::npos) return {};
  std::string type;
  std::string_view rest = id.substr(at);
  for (std::size_t part = 0; !rest.empty(); ++part) {
    const std::size_t slash = rest.find('/');
    const std::string_view piece = rest.substr(0, slash);
    if (part == 0 || part % 2 == 1) type.append(part == 0 ? "" : "/").append(piece);
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  }
  return type;
}

bill::RowFault column_fault(Column column, const std::string& reason) {
  return {std::string(name_of(column)), fmt::format("{}: {}", name_of(column), reason)};
}

}  // namespace pennyweight::azure
