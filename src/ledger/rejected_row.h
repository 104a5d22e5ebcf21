// RejectedRow: a row of a file that could not be imported, with its place and the reason.
//
// It is set aside and counted, and `reconcile` shows it; the other rows of the file are imported.
#pragma once

#include <cstdint>
#include <string>

namespace pennyweight {

struct RejectedRow {
  std::string file;
  std::uint64_t line = 0;  // 1-based, where the row begins; 0: the format has no lines
  std::string column;      // the column at fault; empty: the row as a whole
  std::string reason;      // what is wrong and what to do
  std::string text;        // the row, cut at limits::kRejectedTextBytesMax
  bool operator==(const RejectedRow&) const = default;
};

}  // namespace pennyweight
