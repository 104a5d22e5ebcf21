#include "ingest/csv/utf16.h"

namespace pennyweight::csv {
namespace {

// Whether the first two characters are ASCII, with their zero bytes in the places of UTF-16.
bool is_ascii_in_pairs(std::string_view beginning, std::size_t zero) {
  if (beginning.size() < 4) return false;
  return beginning[zero] == '\0' && beginning[zero + 2] == '\0' && beginning[1 - zero] > 0 &&
         beginning[3 - zero] > 0;
}

}  // namespace

std::string_view utf16_mistake(std::string_view beginning) {
  if (beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF")) {
    return "is UTF-16; write it as UTF-8, with: iconv -f UTF-16 -t UTF-8 OLD > NEW";
  }
  if (is_ascii_in_pairs(beginning, 1)) {
    return "is UTF-16 without its mark; write it as UTF-8, with: iconv -f UTF-16LE -t UTF-8 OLD > "
           "NEW";
  }
  if (is_ascii_in_pairs(beginning, 0)) {
    return "is UTF-16 without its mark; write it as UTF-8, with: iconv -f UTF-16BE -t UTF-8 OLD > "
           "NEW";
  }
  return {};
}

}  // namespace pennyweight::csv
