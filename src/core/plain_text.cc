#include "core/plain_text.h"

namespace pennyweight {
namespace {

// The length of the well-formed sequence at the front of a text that is not empty; 0: there is
// none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(text[i]) & 0xFFu; };
  const auto continues = [&](std::size_t i, unsigned least = 0x80, unsigned most = 0xBF) {
    return i < text.size() && byte(i) >= least && byte(i) <= most;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return continues(1) ? 2 : 0;
  // The bounds on the second byte shut out overlong forms, surrogates and what is past U+10FFFF.
  if (lead < 0xF0) {
    const bool second = continues(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
    return second && continues(2) ? 3 : 0;
  }
  const bool second = continues(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
  return second && continues(2) && continues(3) ? 4 : 0;
}

}  // namespace

std::string printable_text(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string kept;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view piece = length == 0 ? kReplacement : text.substr(0, length);
    if (kept.size() + piece.size() > bytes_max) break;
    kept += piece;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return kept;
}

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace pennyweight
