#include "core/plain_text.h"

#include "core/utf8.h"

namespace pennyweight {
namespace {

// The bytes of the first code point of a text that is not empty; 0 for NUL and for ill-formed
// UTF-8.
std::size_t sequence_length(std::string_view text) {
  return text[0] == '\0' ? 0 : code_point_bytes(text);
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

bool is_plain_text(std::string_view text) { return is_utf8(text) && !text.contains('\0'); }

}  // namespace pennyweight
