#include "ingest/csv/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "core/try.h"

namespace pennyweight::csv {

Result<void> check_columns(const Header& header, const Columns& columns) {
  std::ignore = TRY(header.require(columns.required));
  constexpr std::size_t kShownMax = 20;
  constexpr std::size_t kNameShownMax = 80;
  std::vector<std::string> unknown;
  for (const std::string& name : header.names()) {
    const bool open = !columns.open_prefix.empty() && name.starts_with(columns.open_prefix) &&
                      name.size() > columns.open_prefix.size();
    const auto is_name = [&](std::string_view known) { return known == name; };
    if (open || std::ranges::any_of(columns.required, is_name) ||
        std::ranges::any_of(columns.optional, is_name)) {
      continue;
    }
    if (unknown.size() < kShownMax) unknown.push_back("'" + name.substr(0, kNameShownMax) + "'");
  }
  if (unknown.empty()) return {};
  std::vector<std::string_view> known(columns.required.begin(), columns.required.end());
  known.insert(known.end(), columns.optional.begin(), columns.optional.end());
  return fail(
      ErrorCode::kBadFile,
      fmt::format(
          "unknown column{} {}; this table has {}{}. Correct the name, or remove the "
          "column",
          unknown.size() == 1 ? "" : "s", fmt::join(unknown, ", "), fmt::join(known, ", "),
          columns.open_prefix.empty() ? "" : fmt::format(" and any {}…", columns.open_prefix)));
}

}  // namespace pennyweight::csv
