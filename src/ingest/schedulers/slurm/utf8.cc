#include "ingest/schedulers/slurm/utf8.h"

#include "core/utf8.h"

namespace pennyweight::slurm {

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
  for (std::size_t i = 0; i < size && masked.size() < most;) {
    const std::size_t length = code_point_bytes({bytes + i, size - i});
    if (length == 0) {
      bytes[i] = '?';
      masked.push_back(i);
    }
    i += length == 0 ? 1 : length;
  }
  return masked;
}

}  // namespace pennyweight::slurm
