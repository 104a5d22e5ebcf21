// How a CSV file is written, and the limits that its reader keeps.
#pragma once

#include <cstddef>

#include "core/limits.h"

namespace pennyweight::csv {

struct Options {
  char delimiter = ',';
  bool has_header = true;    // false: the first row is a row like any other
  bool trim_spaces = false;  // spaces and tabs around unquoted fields are not part of them
  bool require_rows = true;  // a header and nothing else is an Error
  std::size_t row_bytes_max = limits::kRowBytesMax;
  std::size_t field_bytes_max = limits::kFieldBytesMax;
  std::size_t columns_max = limits::kColumnsMax;
  std::size_t row_lines_max = 256;  // lines that one row may span by quoted newlines
};

}  // namespace pennyweight::csv
