#include "ingest/csv/writer.h"

#include <utility>

namespace pennyweight::csv {

void Writer::separate() {
  if (row_begun_) {
    text_ += delimiter_;
    row_is_blank_ = false;
  }
  row_begun_ = true;
}

Writer& Writer::field(std::string_view text) {
  bool must_quote = false;
  if (!text.empty()) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    must_quote = is_space(text.front()) || is_space(text.back());
  }
  for (const char c : text) {
    must_quote = must_quote || c == delimiter_ || c == '"' || c == '\r' || c == '\n';
  }
  if (must_quote) return quoted_field(text);
  separate();
  text_ += text;
  row_is_blank_ = row_is_blank_ && text.empty();
  return *this;
}

Writer& Writer::quoted_field(std::string_view text) {
  separate();
  row_is_blank_ = false;
  text_ += '"';
  for (const char c : text) {
    if (c == '"') text_ += '"';
    text_ += c;
  }
  text_ += '"';
  return *this;
}

Writer& Writer::end_row() {
  if (row_begun_ && row_is_blank_)
    text_ += "\"\"";  // else the reader would skip it as an empty line
  text_ += '\n';
  row_begun_ = false;
  row_is_blank_ = true;
  return *this;
}

std::string Writer::take() { return std::exchange(text_, {}); }

}  // namespace pennyweight::csv
