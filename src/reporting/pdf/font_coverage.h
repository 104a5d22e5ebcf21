// FontCoverage: which characters a TrueType font has a glyph for, from its table cmap (format 4,
// the characters up to U+FFFF). libharu draws an empty box for the others, and does not say so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight::pdf {

class FontCoverage {
 public:
  // `font` is the file's content. An Error where it has no such table.
  static Result<FontCoverage> of(std::string_view font);

  bool has(char32_t character) const;

 private:
  struct Range {
    std::uint16_t first = 0, last = 0;  // inclusive, with a glyph each
  };
  std::vector<Range> ranges_;  // by first
};

}  // namespace pennyweight::pdf
