// Writer: rows of fields as CSV (RFC 4180), the counterpart of Reader: what it writes is read back
// field for field.
//
// A field is put in quotes only where it must be: when it holds the delimiter, a quote, CR or LF,
// when it begins or ends with a space or tab, or when the caller asks for it. Rows end with LF.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight::csv {

class Writer {
 public:
  explicit Writer(char delimiter = ',') : delimiter_(delimiter) {}

  Writer& field(std::string_view text);
  Writer& quoted_field(std::string_view text);
  Writer& end_row();

  const std::string& text() const { return text_; }
  // Hands over what was written so far and begins anew, between two rows: for writing piece by
  // piece.
  std::string take();

 private:
  void separate();

  std::string text_;
  char delimiter_;
  bool row_begun_ = false;
  bool row_is_blank_ = true;  // nothing of it but one empty field
};

}  // namespace pennyweight::csv
