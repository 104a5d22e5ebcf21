#include "insight/what_if/interruptions.h"

#include <fmt/format.h>

#include "core/gpu/plain_table.h"
#include "core/instant.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::what_if {

Result<std::vector<NodeInterruption>> parse_interruptions(std::string_view text,
                                                          const std::string& name) {
  constexpr std::string_view kColumns[] = {"node", "from", "to"};
  constexpr std::size_t kShownCellBytesMax = 100;
  const auto table = TRY(PlainTable::parse(text, name, {.required = kColumns}));
  if (table.size() == 0) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{}: it has no line but its header, so no node is taken back", name));
  }
  if (table.size() > kInterruptionsMax) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{}: it has {} lines; a replay takes at most {}. Leave some out", name,
                            table.size(), kInterruptionsMax));
  }
  std::vector<NodeInterruption> interruptions;
  interruptions.reserve(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto row = table.row(i);
    const auto from = parse_instant(row[1]);
    const auto to = parse_instant(row[2]);
    if (row[0].empty() || !from || !to || *to <= *from) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("{}: '{},{},{}': write a node, since when it is away and until when, later "
                      "than that: gpu-1,2026-03-05T00:00:00Z,2026-03-05T00:10:00Z",
                      table.place(i), printable_text(row[0], kShownCellBytesMax),
                      printable_text(row[1], kShownCellBytesMax),
                      printable_text(row[2], kShownCellBytesMax)));
    }
    interruptions.push_back({.node = std::string(row[0]),
                             .begin_ms = from->time_since_epoch().count(),
                             .end_ms = to->time_since_epoch().count()});
  }
  return interruptions;
}

}  // namespace pennyweight::what_if
