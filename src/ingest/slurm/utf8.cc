#include "ingest/slurm/utf8.h"

#include <simdjson.h>

namespace pennyweight::slurm {
namespace {

// The length of the well-formed sequence at the front (Unicode 15, table 3-7); 0 if there is none.
std::size_t sequence_length(const unsigned char* at, std::size_t left) {
  const auto next_in = [&](std::size_t i, unsigned low, unsigned high) {
    return i < left && at[i] >= low && at[i] <= high;
  };
  const unsigned lead = at[0];
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return next_in(1, 0x80, 0xBF) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return next_in(1, low, high) && next_in(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    return next_in(1, low, high) && next_in(2, 0x80, 0xBF) && next_in(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_clean_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size()) &&
         text.find('\0') == std::string_view::npos;
}

std::string shown_as_utf8(std::string_view text) {
  std::string shown(text);
  mask_invalid_utf8(shown.data(), shown.size(), shown.size());
  for (char& c : shown) {
    if (c == '\0') c = '?';
  }
  return shown;
}

std::vector<std::size_t> mask_invalid_utf8(char* bytes, std::size_t size, std::size_t most) {
  std::vector<std::size_t> masked;
  const auto* at = reinterpret_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size && masked.size() < most;) {
    const std::size_t length = sequence_length(at + i, size - i);
    if (length == 0) {
      bytes[i] = '?';
      masked.push_back(i);
    }
    i += length == 0 ? 1 : length;
  }
  return masked;
}

}  // namespace pennyweight::slurm
