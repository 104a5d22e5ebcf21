#include "ingest/csv/utf8.h"

namespace pennyweight::csv {
namespace {

// The length of the sequence that a lead byte opens, and the range of the byte after it; the ranges
// shut out overlong forms, surrogates and what lies above U+10FFFF.
struct Lead {
  std::size_t length;
  unsigned second_min;
  unsigned second_max;
};

Lead lead_of(unsigned byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

std::size_t first_bad_byte(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(text[i]) & 0xFFu; };
  std::size_t i = 0;
  while (i < text.size()) {
    if (byte(i) < 0x80) {
      if (byte(i) == 0) return i;
      ++i;
      continue;
    }
    const Lead lead = lead_of(byte(i));
    if (lead.length == 0 || text.size() - i < lead.length) return i;
    if (byte(i + 1) < lead.second_min || byte(i + 1) > lead.second_max) return i;
    for (std::size_t k = 2; k < lead.length; ++k) {
      if ((byte(i + k) & 0xC0u) != 0x80) return i;
    }
    i += lead.length;
  }
  return text.size();
}

}  // namespace pennyweight::csv
