#include "reporting/pdf/font_coverage.h"

#include <algorithm>
#include <optional>

namespace pennyweight::pdf {
namespace {

// Big-endian numbers of a file; nothing beyond its end.
class FontBytes {
 public:
  explicit FontBytes(std::string_view bytes) : bytes_(bytes) {}
  std::uint32_t u16(std::size_t at) const { return byte(at) << 8U | byte(at + 1); }
  std::uint32_t u32(std::size_t at) const { return u16(at) << 16U | u16(at + 2); }
  std::string_view text(std::size_t at, std::size_t size) const {
    return at < bytes_.size() ? bytes_.substr(at, size) : std::string_view();
  }

 private:
  std::uint32_t byte(std::size_t at) const {
    return at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0;
  }
  std::string_view bytes_;
};

// Where the subtable of format 4 begins.
std::optional<std::size_t> find_format_4(const FontBytes& font) {
  const std::uint32_t tables = font.u16(4);
  for (std::size_t i = 0; i < tables; ++i) {
    const std::size_t record = 12 + 16 * i;
    if (font.text(record, 4) != "cmap") continue;
    const std::size_t cmap = font.u32(record + 8);
    const std::uint32_t subtables = font.u16(cmap + 2);
    for (std::size_t j = 0; j < subtables; ++j) {
      const std::size_t subtable = cmap + font.u32(cmap + 4 + 8 * j + 4);
      if (font.u16(subtable) == 4) return subtable;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<FontCoverage> FontCoverage::of(std::string_view font) {
  const FontBytes bytes(font);
  const auto table = find_format_4(bytes);
  if (!table) return fail(ErrorCode::kBadFile, "the font has no table of its characters (cmap)");
  const std::size_t segments = bytes.u16(*table + 6) / 2;
  const std::size_t ends = *table + 14;
  const std::size_t starts = ends + 2 * segments + 2;
  const std::size_t deltas = starts + 2 * segments;
  const std::size_t offsets = deltas + 2 * segments;
  FontCoverage coverage;
  for (std::size_t i = 0; i < segments; ++i) {
    const std::uint32_t first = bytes.u16(starts + 2 * i), last = bytes.u16(ends + 2 * i);
    const std::uint32_t delta = bytes.u16(deltas + 2 * i);
    const std::uint32_t offset = bytes.u16(offsets + 2 * i);
    for (std::uint32_t c = first; c <= last && c != 0xFFFF; ++c) {
      std::uint32_t glyph = c + delta;
      if (offset != 0) {
        glyph = bytes.u16(offsets + 2 * i + offset + 2 * static_cast<std::size_t>(c - first));
        if (glyph != 0) glyph += delta;
      }
      if ((glyph & 0xFFFFU) == 0) continue;
      const auto character = static_cast<std::uint16_t>(c);
      const bool goes_on =
          !coverage.ranges_.empty() && coverage.ranges_.back().last + 1U == character;
      if (goes_on) {
        coverage.ranges_.back().last = character;
      } else {
        coverage.ranges_.push_back({character, character});
      }
    }
  }
  std::ranges::sort(coverage.ranges_, {}, &Range::first);
  return coverage;
}

bool FontCoverage::has(char32_t character) const {
  const auto after = std::ranges::upper_bound(
      ranges_, character, {}, [](const Range& range) { return char32_t{range.first}; });
  return after != ranges_.begin() && character <= char32_t{std::prev(after)->last};
}

}  // namespace pennyweight::pdf
