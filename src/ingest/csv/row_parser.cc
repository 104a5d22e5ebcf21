#include "ingest/csv/row_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "ingest/csv/utf8.h"

namespace pennyweight::csv {

RowStatus RowParser::parse(Scanner& scanner, std::string_view bytes, std::size_t begin, bool final,
                           std::uint64_t line) {
  fields_.clear();
  quoted_.clear();
  unescaped_.clear();
  reason_.clear();
  next_line_ = line;
  scanner.begin_row();
  const Window row{bytes, begin, std::min(bytes.size(), begin + options_.row_bytes_max), final,
                   line};
  std::size_t field = begin;
  while (true) {
    std::size_t at = scanner.next();
    const bool is_quoted = at < bytes.size() && bytes[at] == '"';
    const RowStatus parsed =
        is_quoted ? parse_quoted_field(row, scanner, field, at) : parse_bare_field(row, field, at);
    if (parsed != RowStatus::kRow) return parsed;
    if (at == bytes.size() || bytes[at] != options_.delimiter) return end_row(row, scanner, at);
    field = at + 1;
  }
}

RowStatus RowParser::parse_bare_field(const Window& row, std::size_t field, std::size_t at) {
  if (at >= row.limit && row.limit < row.bytes.size()) {
    return bad_quoting(
        fmt::format("the row has more than the {} bytes allowed", options_.row_bytes_max));
  }
  if (at == row.bytes.size() && !row.final) return RowStatus::kIncomplete;
  std::string_view value = row.bytes.substr(field, at - field);
  if (options_.trim_spaces) value = ascii::trim(value);
  add_field(value, false);
  return RowStatus::kRow;
}

RowStatus RowParser::parse_quoted_field(const Window& row, Scanner& scanner, std::size_t field,
                                        std::size_t& at) {
  if (!is_blank(row.bytes.substr(field, at - field))) {
    return bad_quoting(
        fmt::format("a quote inside field {}, which does not begin with one; put the field in "
                    "quotes and double those inside it",
                    fields_.size() + 1));
  }
  const std::size_t text = at + 1;
  bool has_doubled = false;
  const RowStatus found = find_closing_quote(row, scanner, text, at, has_doubled);
  if (found != RowStatus::kRow) return found;
  // A quote that ends the bytes at hand may be the first of two.
  if (at + 1 == row.bytes.size() && !row.final) return RowStatus::kIncomplete;
  const std::string_view inside = row.bytes.substr(text, at - text);
  if (has_doubled) {
    if (unescaped_.empty()) {
      unescaped_.reserve(std::min(options_.row_bytes_max, row.bytes.size()));
    }
    add_unescaped(inside);
  } else {
    add_field(inside, true);
  }
  const std::size_t closing = at;
  at = scanner.next();
  // Even if only spaces follow so far.
  if (at == row.bytes.size() && !row.final) return RowStatus::kIncomplete;
  return check_after_quote(row, closing, at);
}

RowStatus RowParser::find_closing_quote(const Window& row, Scanner& scanner, std::size_t text,
                                        std::size_t& at, bool& has_doubled) {
  const std::string_view bytes = row.bytes;
  while (true) {
    at = scanner.next();
    if (at >= row.limit) break;
    const char c = bytes[at];
    if (c == '"') {
      if (at + 1 == bytes.size() || bytes[at + 1] != '"') return RowStatus::kRow;
      has_doubled = true;
      scanner.next();  // the second quote of a doubled one
      continue;
    }
    const bool is_lf_of_crlf = c == '\n' && bytes[at - 1] == '\r' && at > text;
    if ((c == '\n' || c == '\r') && !is_lf_of_crlf) {
      const RowStatus counted = count_quoted_line(row);
      if (counted != RowStatus::kRow) return counted;
    }
  }
  if (row.limit < bytes.size()) {
    return bad_quoting(fmt::format(
        "a quote opened in field {} is not closed within {} bytes; close it, or double the quotes "
        "inside the field",
        fields_.size() + 1, options_.row_bytes_max));
  }
  if (!row.final) return RowStatus::kIncomplete;
  return bad_quoting(fmt::format(
      "a quote opened in field {} is never closed; close it, or double the quotes inside the field",
      fields_.size() + 1));
}

RowStatus RowParser::count_quoted_line(const Window& row) {
  ++next_line_;
  if (next_line_ - row.line < options_.row_lines_max) return RowStatus::kRow;
  return bad_quoting(fmt::format(
      "a quote opened in field {} is not closed within {} lines; close it, or double the quotes "
      "inside the field",
      fields_.size() + 1, options_.row_lines_max));
}

RowStatus RowParser::check_after_quote(const Window& row, std::size_t closing, std::size_t at) {
  if (at < row.bytes.size() && row.bytes[at] == '"') {
    return bad_quoting(fmt::format("text after the closing quote of field {}", fields_.size()));
  }
  const std::size_t end = std::min(at, row.bytes.size());
  if (is_blank(row.bytes.substr(closing + 1, end - closing - 1))) return RowStatus::kRow;
  return bad_quoting(
      fmt::format("text after the closing quote of field {}; double the quotes inside a field, and "
                  "close it before the delimiter",
                  fields_.size()));
}

// `at` is the line break, or the end of the file.
RowStatus RowParser::end_row(const Window& row, Scanner& scanner, std::size_t at) {
  end_ = at;
  next_ = at;
  if (at < row.bytes.size()) {
    const bool is_cr = row.bytes[at] == '\r';
    if (is_cr && at + 1 == row.bytes.size() && !row.final) return RowStatus::kIncomplete;
    const bool is_crlf = is_cr && at + 1 < row.bytes.size() && row.bytes[at + 1] == '\n';
    if (is_crlf) scanner.next();
    next_ = at + (is_crlf ? 2 : 1);
    ++next_line_;
  }
  return check_row(row, scanner);
}

RowStatus RowParser::check_row(const Window& row, const Scanner& scanner) {
  if (end_ == row.begin) return RowStatus::kBlank;
  if (!reason_.empty()) return RowStatus::kBadRow;
  if (scanner.may_be_unusual()) {
    const std::string_view text = row.bytes.substr(row.begin, end_ - row.begin);
    const std::size_t bad = first_bad_byte(text);
    if (bad < text.size()) {
      if (text[bad] == '\0') {
        return bad_row(fmt::format("a NUL byte at byte {} of the row; remove it", bad + 1));
      }
      return bad_row(
          fmt::format("byte {} of the row (0x{:02X}) is not UTF-8; save the file as UTF-8", bad + 1,
                      static_cast<unsigned>(text[bad]) & 0xFFu));
    }
  }
  if (width_ != 0 && fields_.size() != width_) {
    return bad_row(fmt::format("the row has {} fields, the header {}", fields_.size(), width_));
  }
  return RowStatus::kRow;
}

RowStatus RowParser::bad_quoting(std::string reason) {
  reason_ = std::move(reason);
  return RowStatus::kBadQuoting;
}

RowStatus RowParser::bad_row(std::string reason) {
  reason_ = std::move(reason);
  return RowStatus::kBadRow;
}

bool RowParser::is_blank(std::string_view between) const {
  return between.empty() || (options_.trim_spaces && ascii::trim(between).empty());
}

// Over a limit the row goes on to be parsed, so that its end is found.
void RowParser::add_field(std::string_view field, bool is_quoted) {
  if (field.size() > options_.field_bytes_max) {
    reason_ = fmt::format("field {} has {} bytes, more than the {} allowed", fields_.size() + 1,
                          field.size(), options_.field_bytes_max);
  } else if (fields_.size() == options_.columns_max) {
    reason_ = fmt::format("more than {} columns", options_.columns_max);
  }
  if (!reason_.empty()) return;
  fields_.push_back(field);
  quoted_.push_back(is_quoted ? 1 : 0);
}

// Doubled quotes become one. unescaped_ has room for the whole row, so it never moves.
void RowParser::add_unescaped(std::string_view escaped) {
  const std::size_t begin = unescaped_.size();
  for (std::size_t i = 0; i < escaped.size();) {
    const std::size_t quote = escaped.find('"', i);
    if (quote == std::string_view::npos) {
      unescaped_.append(escaped.substr(i));
      break;
    }
    unescaped_.append(escaped.substr(i, quote - i + 1));
    i = quote + 2;
  }
  add_field(std::string_view(unescaped_).substr(begin), true);
}

}  // namespace pennyweight::csv
