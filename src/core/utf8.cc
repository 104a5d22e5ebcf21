#include "core/utf8.h"

#include <cstdint>
#include <cstring>

namespace pennyweight {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::size_t code_point_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first <= 0xDF   ? 2
                           : first >= 0xE0 && first <= 0xEF ? 3
                           : first >= 0xF0 && first <= 0xF4 ? 4
                                                            : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  if (first == 0xE0 && second < 0xA0) return 0;  // overlong
  if (first == 0xED && second > 0x9F) return 0;  // a surrogate
  if (first == 0xF0 && second < 0x90) return 0;  // overlong
  if (first == 0xF4 && second > 0x8F) return 0;  // past U+10FFFF
  return size;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    // Most text is ASCII: 32 bytes at once, then eight.
    std::uint64_t words[4];
    if (text.size() >= sizeof words) {
      std::memcpy(words, text.data(), sizeof words);
      if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) == 0) {
        text.remove_prefix(sizeof words);
        continue;
      }
    }
    std::uint64_t word = 0;
    if (text.size() >= sizeof word) {
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & kHighBits) == 0) {
        text.remove_prefix(sizeof word);
        continue;
      }
    }
    const std::size_t length = code_point_bytes(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace pennyweight
