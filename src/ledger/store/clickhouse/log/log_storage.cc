#include "ledger/store/clickhouse/log/log_storage.h"

#include "core/check.h"

namespace pennyweight::commit_log {

std::string_view to_text(RowKind kind) {
  switch (kind) {
    case RowKind::kClaim:
      return "claim";
    case RowKind::kOpen:
      return "open";
    case RowKind::kEntry:
      return "entry";
    case RowKind::kSealed:
      return "sealed";
    case RowKind::kRelease:
      return "release";
    case RowKind::kAlive:
      return "alive";
  }
  CHECK(false, "every kind has its text");
}

std::optional<RowKind> parse_row_kind(std::string_view text) {
  for (const RowKind kind : {RowKind::kClaim, RowKind::kOpen, RowKind::kEntry, RowKind::kSealed,
                             RowKind::kRelease, RowKind::kAlive}) {
    if (text == to_text(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace pennyweight::commit_log
