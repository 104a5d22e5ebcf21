// Which columns a table of ours may have: a misspelt name must not read as an absent column.
#pragma once

#include <span>
#include <string_view>

#include "core/error.h"
#include "ingest/csv/header.h"

namespace pennyweight::csv {

struct Columns {
  std::span<const std::string_view> required;
  std::span<const std::string_view> optional;
  std::string_view open_prefix;  // names that begin so are columns as well; empty: none
};

// An Error names the required columns that are missing, or the columns that are none of these.
Result<void> check_columns(const Header& header, const Columns& columns);

}  // namespace pennyweight::csv
