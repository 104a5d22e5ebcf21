// PlainTable: reads comma-separated values without quotes, the format of the built-in tables and of
// price files.
//
// These tables hold names and numbers, never prose, so a quote is a mistake and is refused; ingest/
// reads bills and logs, which do quote. A byte order mark, CRLF and blank lines are accepted;
// anything else but a header and rows of the same width is an error with the table's name and line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight {

struct PlainTableShape {
  std::span<const std::string_view> required;
  std::span<const std::string_view> optional = {};  // a missing one reads as empty cells
  bool others_ignored = false;                      // else an unknown column is an error
};

class PlainTable {
 public:
  // The cells point into `text`, which must outlive the table. Errors begin with `name`.
  static Result<PlainTable> parse(std::string_view text, std::string_view name,
                                  const PlainTableShape& shape);

  std::size_t size() const { return lines_.size(); }
  // Cells of a row in the order of the shape: the required columns, then the optional ones.
  std::span<const std::string_view> row(std::size_t index) const {
    return std::span(cells_).subspan(index * width_, width_);
  }
  std::uint64_t line(std::size_t index) const { return lines_[index]; }
  // "prices.csv:12", for the caller's own errors.
  std::string place(std::size_t index) const;

 private:
  std::string name_;
  std::size_t width_ = 0;
  std::vector<std::string_view> cells_;
  std::vector<std::uint64_t> lines_;
};

}  // namespace pennyweight
