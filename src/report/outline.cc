#include "report/outline.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/json_text.h"

namespace pennyweight {

std::string render_text(std::span<const OutlineSection> sections, const TextStyle& style) {
  std::size_t width = 0;
  for (const OutlineSection& section : sections) {
    for (const auto& [name, value] : section.facts) {
      width = std::max(width, display_width(printable(name)));
    }
  }
  std::string out;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const std::string title = fmt::format("{}. {}", i + 1, printable(sections[i].title));
    if (i > 0) out += '\n';
    out += style.colour ? fmt::format("\x1b[1m{}\x1b[0m\n", title) : title + '\n';
    for (const auto& [name, value] : sections[i].facts) {
      const std::string shown = printable(name);
      const std::string padding(width - display_width(shown), ' ');
      out += fmt::format("   {}{}  {}\n", shown, padding, printable(value));
    }
  }
  return out;
}

std::string render_json(std::span<const OutlineSection> sections) {
  std::string out = "[";
  for (std::size_t i = 0; i < sections.size(); ++i) {
    out += i == 0 ? "\n  {\"title\": " : ",\n  {\"title\": ";
    append_json_string(out, sections[i].title);
    out += ", \"facts\": [";
    for (std::size_t k = 0; k < sections[i].facts.size(); ++k) {
      const auto& [name, value] = sections[i].facts[k];
      out += k == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ";
      append_json_string(out, name);
      out += ", \"value\": ";
      append_json_string(out, value);
      out += '}';
    }
    out += "]}";
  }
  return out + "]";
}

}  // namespace pennyweight
