#include "app/cli/examples.h"

namespace pennyweight {

std::string examples_section(std::string_view text, std::string_view verb) {
  std::string out;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with("## ")) {
      inside = line.substr(3) == verb;
    } else if (inside && (line.starts_with("# ") || line.starts_with("$ "))) {
      out += "  ";
      out += line;
      out += '\n';
    }
  }
  return out;
}

}  // namespace pennyweight
