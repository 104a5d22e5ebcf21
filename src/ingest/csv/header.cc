#include "ingest/csv/header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/ascii.h"

namespace pennyweight::csv {
namespace {

constexpr std::size_t kNamesShownMax = 80;

}  // namespace

Result<Header> Header::of(std::span<const std::string_view> names) {
  Header header;
  for (const std::string_view raw : names) {
    const std::string_view name = ascii::trim(raw);
    if (name.empty()) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("column {} of the header has no name; name it, or remove the column",
                              header.names_.size() + 1));
    }
    const auto [there, is_new] = header.places_.emplace(name, header.names_.size());
    if (!is_new) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("the header names column '{}' twice, as columns {} and {}; remove or "
                              "rename one",
                              name.substr(0, 80), there->second + 1, header.names_.size() + 1));
    }
    header.names_.emplace_back(name);
  }
  return header;
}

std::optional<std::size_t> Header::find(std::string_view name) const {
  const auto at = places_.find(name);
  if (at == places_.end()) return std::nullopt;
  return at->second;
}

Result<std::vector<std::size_t>> Header::require(std::span<const std::string_view> names) const {
  std::vector<std::size_t> places;
  std::vector<std::string> missing;
  for (const std::string_view name : names) {
    if (const auto place = find(name)) {
      places.push_back(*place);
      continue;
    }
    const auto similar = std::ranges::find_if(
        names_, [&](const std::string& there) { return ascii::equal_ignoring_case(there, name); });
    missing.push_back(similar == names_.end() ? std::string(name)
                                              : fmt::format("{} (there is '{}': write it as {})",
                                                            name, *similar, name));
  }
  if (missing.empty()) return places;
  const auto shown = std::span(names_).first(std::min(names_.size(), kNamesShownMax));
  return fail(ErrorCode::kBadFile,
              fmt::format("missing columns: {}; the header has: {}{}", fmt::join(missing, ", "),
                          fmt::join(shown, ", "), shown.size() < names_.size() ? ", …" : ""));
}

}  // namespace pennyweight::csv
