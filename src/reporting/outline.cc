#include "reporting/outline.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json_text.h"

namespace pennyweight {
namespace {

// Wraps `value` at spaces into lines of at most `width`. A longer word stays whole, since a broken
// id can't be copied.
std::string wrapped(std::string_view value, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!value.empty()) {
    const std::string_view word = value.substr(0, value.find(' '));
    value.remove_prefix(std::min(word.size() + 1, value.size()));
    const std::size_t size = display_width(word);
    if (used > 0 && used + 1 + size > width) {
      out += '\n';
      out.append(indent, ' ');
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += size;
  }
  return out;
}

}  // namespace

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
      const std::size_t indent = width + 5;
      const bool narrow = style.width && *style.width > indent + 10;
      out += fmt::format(
          "   {}{}  {}\n", shown, padding,
          narrow ? wrapped(printable(value), *style.width - indent, indent) : printable(value));
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
