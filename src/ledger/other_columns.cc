#include "ledger/other_columns.h"

namespace pennyweight {
namespace {

// A JSON string within a text: the offsets of its two quotes.
struct QuotedString {
  std::size_t open;
  std::size_t close;
};

// The first JSON string from `from` on; nothing where none begins, or none ends.
std::optional<QuotedString> find_string(std::string_view json, std::size_t from) {
  const std::size_t open = json.find('"', from);
  if (open == std::string_view::npos) return std::nullopt;
  for (std::size_t i = open + 1; i < json.size(); ++i) {
    if (json[i] == '\\') {
      ++i;  // whatever is escaped does not end the string
    } else if (json[i] == '"') {
      return QuotedString{open, i};
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_amount_column(std::string_view name) {
  return name.ends_with("Cost") || name.ends_with("Quantity") || name.ends_with("UnitPrice");
}

std::optional<OtherColumn> OtherColumnReader::next() {
  const auto name = find_string(rest_, 0);
  if (!name) return std::nullopt;
  const auto value = find_string(rest_, name->close + 1);
  if (!value) return std::nullopt;
  const OtherColumn column{
      .name = rest_.substr(name->open + 1, name->close - name->open - 1),
      .identity = rest_.substr(name->open, value->close - name->open),
  };
  rest_.remove_prefix(value->close + 1);
  return column;
}

}  // namespace pennyweight
