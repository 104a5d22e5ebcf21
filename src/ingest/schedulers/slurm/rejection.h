// Why a row can't be used: the column at fault, and what is wrong with it.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/schedulers/slurm/utf8.h"

namespace pennyweight::slurm {

struct Rejection {
  std::string column;  // empty: the row as a whole
  std::string reason;
  bool operator==(const Rejection&) const = default;
};

// `reason` may quote the row: bytes of it that are not UTF-8 show as '?'.
inline std::unexpected<Rejection> reject(std::string column, std::string_view reason) {
  return std::unexpected(Rejection{std::move(column), shown_as_utf8(reason)});
}

}  // namespace pennyweight::slurm
