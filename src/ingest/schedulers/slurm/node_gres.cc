#include "ingest/schedulers/slurm/node_gres.h"

#include <fmt/format.h>

#include "core/try.h"
#include "ingest/schedulers/slurm/duration.h"

namespace pennyweight::slurm {
namespace {

std::unexpected<Error> bad_gres(std::string_view entry) {
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' is not a resource such as gpu:a100:4", entry.substr(0, 40)));
}

Result<std::uint64_t> gres_count(std::string_view text) {
  std::uint64_t unit = 1;
  if (text.ends_with('K')) unit = 1 << 10;
  if (text.ends_with('M')) unit = 1 << 20;
  if (unit > 1) text.remove_suffix(1);
  const auto count = parse_count(text);
  if (count && *count > 1'000'000'000) return fail(ErrorCode::kLimit, "a count is out of range");
  return count ? Result<std::uint64_t>(*count * unit) : count;
}

// One entry, without the parentheses after it.
Result<void> add_entry(std::string_view entry, Tres& found) {
  const std::string_view plain = entry.substr(0, entry.find('('));
  const std::size_t last = plain.rfind(':');
  if (last == std::string_view::npos || last == 0) return bad_gres(entry);
  const auto count = gres_count(plain.substr(last + 1));
  if (!count) return bad_gres(entry);
  std::string_view name = plain.substr(0, last);
  // "gpu:a100:no_consume:4"
  if (name.ends_with(":no_consume")) name.remove_suffix(std::string_view(":no_consume").size());
  return add_gres(found, name, *count);
}

}  // namespace

Result<std::vector<Gres>> parse_node_gres(std::string_view text) {
  Tres found;
  if (text == "(null)") return found.gres;
  while (!text.empty()) {
    // A comma in parentheses, as in (S:0,2), does not end an entry.
    std::size_t cut = 0;
    for (int depth = 0; cut < text.size() && (text[cut] != ',' || depth > 0); ++cut) {
      if (text[cut] == '(') ++depth;
      if (text[cut] == ')') --depth;
    }
    TRY(add_entry(text.substr(0, cut), found));
    if (cut == text.size()) break;
    text.remove_prefix(cut + 1);
    if (text.empty()) return fail(ErrorCode::kBadValue, "the list ends with a comma");
  }
  return found.gres;
}

}  // namespace pennyweight::slurm
