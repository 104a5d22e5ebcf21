#include "reporting/table.h"

#include <fmt/format.h>

#include <iterator>

#include "core/utf8.h"

namespace pennyweight {

std::string month_label(const std::string& month) { return month.empty() ? "all months" : month; }

std::optional<TableFormat> parse_table_format(std::string_view text) {
  if (text == "text") return TableFormat::kText;
  if (text == "csv") return TableFormat::kCsv;
  if (text == "json") return TableFormat::kJson;
  return std::nullopt;
}

std::string render(const std::vector<Table>& tables, TableFormat format, const TextStyle& style) {
  switch (format) {
    case TableFormat::kCsv:
      return render_csv(tables);
    case TableFormat::kJson:
      return render_json(tables);
    case TableFormat::kText:
      break;
  }
  std::string text;
  for (const Table& table : tables) {
    if (!text.empty()) text += '\n';
    text += render_text(table, style);
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = code_point_bytes(text);
    const auto c = static_cast<unsigned char>(text[0]);
    // C1 controls (U+0080 to U+009F) move some terminals' cursors too.
    const bool c1 = bytes == 2 && c == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (bytes == 0 || c < 0x20 || c == 0x7F || c1) {
      const std::size_t escaped = bytes == 0 ? 1 : bytes;
      for (std::size_t i = 0; i < escaped; ++i) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[i]));
      }
      text.remove_prefix(escaped);
      continue;
    }
    out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::size_t bytes = code_point_bytes(text);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
    ++width;
  }
  return width;
}

}  // namespace pennyweight
