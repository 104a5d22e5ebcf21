#include "ingest/csv/utf8.h"

#include "core/utf8.h"

namespace pennyweight::csv {

std::size_t first_bad_byte(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      if (text[i] == '\0') return i;
      ++i;
      continue;
    }
    const std::size_t bytes = code_point_bytes(text.substr(i));
    if (bytes == 0) return i;
    i += bytes;
  }
  return text.size();
}

}  // namespace pennyweight::csv
