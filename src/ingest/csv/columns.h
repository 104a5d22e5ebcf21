// Columns: the columns that one of our own tables may have. A misspelt name must not read as a
// missing column.
#pragma once

#include <span>
#include <string_view>

#include "core/error.h"
#include "ingest/csv/header.h"

namespace pennyweight::csv {

struct Columns {
  std::span<const std::string_view> required;
  std::span<const std::string_view> optional;
  std::string_view open_prefix;  // names with this prefix are columns too; empty: none
};

// An Error names the required columns that are missing, or the columns that are not allowed.
Result<void> check_columns(const Header& header, const Columns& columns);

}  // namespace pennyweight::csv
