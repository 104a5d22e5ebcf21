#include "ingest/schedulers/slurm/gres_details.h"

#include <fmt/format.h>

#include <utility>

#include "core/limits.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/node_gres.h"

namespace pennyweight::slurm {
namespace {

std::unexpected<Error> bad_entry(std::string_view entry) {
  return fail(
      ErrorCode::kBadValue,
      fmt::format("'{}' is not a resource such as gpu:a100:2(IDX:0-1)", entry.substr(0, 60)));
}

// Takes what is before the next comma outside of parentheses.
std::string_view take_entry(std::string_view& text) {
  std::size_t cut = 0;
  for (int depth = 0; cut < text.size() && (text[cut] != ',' || depth > 0); ++cut) {
    if (text[cut] == '(') ++depth;
    if (text[cut] == ')') --depth;
  }
  const std::string_view entry = text.substr(0, cut);
  text.remove_prefix(cut == text.size() ? cut : cut + 1);
  return entry;
}

// "0-1,3": in rising order, as a bit map is printed.
std::optional<std::vector<std::uint32_t>> parse_indexes(std::string_view text) {
  std::vector<std::uint32_t> all;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    const std::size_t dash = range.find('-');
    const auto first = parse_count(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_count(range.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= limits::kGpusPerNodeMax) return std::nullopt;
    if (!all.empty() && *first <= all.back()) return std::nullopt;
    for (std::uint64_t i = *first; i <= *last; ++i) all.push_back(static_cast<std::uint32_t>(i));
    if (comma == std::string_view::npos) return all;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;
  }
  return all;
}

}  // namespace

Result<std::vector<GresDetail>> parse_gres_details(std::string_view text) {
  std::vector<GresDetail> details;
  if (text == "(null)") return details;
  while (!text.empty()) {
    const std::string_view entry = take_entry(text);
    auto plain = parse_node_gres(entry);
    if (!plain) return bad_entry(entry);
    if (plain->empty() || plain->front().count == 0) continue;
    GresDetail detail{.gres = std::move(plain->front()), .indexes = {}};
    constexpr std::string_view kIndexes = "(IDX:";
    if (const std::size_t at = entry.find(kIndexes); at != std::string_view::npos) {
      std::string_view list = entry.substr(at + kIndexes.size());
      if (!list.ends_with(')')) return bad_entry(entry);
      list.remove_suffix(1);
      auto indexes = parse_indexes(list == "N/A" ? std::string_view() : list);
      if (!indexes) return bad_entry(entry);
      detail.indexes = std::move(*indexes);
    }
    details.push_back(std::move(detail));
  }
  return details;
}

}  // namespace pennyweight::slurm
