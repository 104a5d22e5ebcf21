#include "ingest/csv/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "ingest/csv/utf8.h"

namespace pennyweight::csv {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::size_t kBeginningBytes = 4;  // enough to know every signature below

struct Signature {
  std::string_view bytes;
  std::string_view what;
};

// Files that are often taken for CSV by their name.
constexpr Signature kSignatures[] = {
    {"\xFF\xFE", "is UTF-16; save it as UTF-8"},
    {"\xFE\xFF", "is UTF-16; save it as UTF-8"},
    {"\x1F\x8B", "is gzip; unpack it first"},
    {"\x28\xB5\x2F\xFD", "is zstd; unpack it first"},
    {"PK\x03\x04", "is a ZIP archive or a spreadsheet; unpack it, or save it as CSV"},
    {"PAR1", "is Parquet, not CSV; name it .parquet"},
    {"\x7F"
     "ELF",
     "is a program, not CSV"},
};

// The end of the line that holds `begin`, and where the next begins; both npos when it has no end.
struct LineEnd {
  std::size_t end;
  std::size_t next;
};

LineEnd line_end(std::string_view bytes, std::size_t begin) {
  const std::size_t end = bytes.find_first_of("\r\n", begin);
  if (end == std::string_view::npos) return {end, end};
  const bool crlf = bytes[end] == '\r' && end + 1 < bytes.size() && bytes[end + 1] == '\n';
  return {end, end + (crlf ? 2 : 1)};
}

// Whether the line's CR is the last of the bytes at hand, so that an LF may follow it.
bool ends_with_bare_cr(std::string_view bytes, const LineEnd& line) {
  return line.next == bytes.size() && line.next == line.end + 1 && bytes[line.end] == '\r';
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Reader::Reader(const Options& options, Sink& sink) : options_(options), sink_(sink) {}

Result<void> Reader::feed(std::string_view chunk) {
  buffer_.append(chunk);
  // An incomplete row is parsed again only when its bytes have doubled, so that feeding byte by
  // byte costs no more than twice reading it at once.
  if (buffer_.size() < std::max(retry_bytes_, kBeginningBytes)) return {};
  const auto done = consume(buffer_, false);
  if (!done) return std::unexpected(done.error());
  buffer_.erase(0, *done);
  retry_bytes_ = 2 * buffer_.size();
  return {};
}

Result<void> Reader::finish() {
  const auto done = consume(buffer_, true);
  if (!done) return std::unexpected(done.error());
  buffer_.clear();
  return check_rows();
}

Result<void> Reader::read_all(std::string_view text) {
  CHECK(buffer_.empty() && !begun_, "a reader reads one file, once");
  const auto done = consume(text, true);
  if (!done) return std::unexpected(done.error());
  return check_rows();
}

Result<void> Reader::check_rows() const {
  if (has_header_ && rows_ == 0 && bad_rows_ == 0 && options_.require_rows) {
    return fail(ErrorCode::kBadFile, "the file has a header and no rows; is the export complete?");
  }
  const bool nothing = !has_header_ && rows_ == 0 && bad_rows_ == 0;
  if (nothing && (options_.has_header || options_.require_rows)) {
    return fail(ErrorCode::kBadFile, "the file is empty");
  }
  return {};
}

Result<void> Reader::check_beginning(std::string_view bytes) const {
  for (const Signature& signature : kSignatures) {
    if (bytes.starts_with(signature.bytes)) {
      return fail(ErrorCode::kBadFile, fmt::format("the file {}", signature.what));
    }
  }
  const std::string_view beginning = bytes.substr(0, kBeginningBytes);
  if (beginning.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadFile,
                "the file is not text: it begins with NUL bytes (binary, or UTF-16)");
  }
  return {};
}

Result<std::size_t> Reader::consume(std::string_view bytes, bool final) {
  std::size_t at = 0;
  if (!begun_) {
    if (const auto ok = check_beginning(bytes); !ok) return std::unexpected(ok.error());
    if (bytes.starts_with(kUtf8Mark)) at = kUtf8Mark.size();
    begun_ = true;
  }
  Scanner scanner(bytes, options_.delimiter);
  scanner.seek(at);
  while (at < bytes.size()) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes[at] == '\n') {
        scanner.seek(++at);
        continue;
      }
    }
    if (skipping_line_) {
      const LineEnd line = line_end(bytes, at);
      if (line.end == std::string_view::npos) return bytes.size();
      skipping_line_ = false;
      after_cr_ = ends_with_bare_cr(bytes, line);
      ++line_;
      at = line.next;
      scanner.seek(at);
      continue;
    }
    const Parsed parsed = parse_row(scanner, at, bytes, final);
    switch (parsed) {
      case Parsed::kIncomplete:
        return at;
      case Parsed::kBlank:
        break;
      case Parsed::kRow:
        if (auto ok = hand_over(bytes.substr(at, row_end_ - at)); !ok) {
          return std::unexpected(std::move(ok.error()));
        }
        break;
      case Parsed::kBadRow:
        if (auto ok = hand_over_bad(bytes.substr(at, row_end_ - at)); !ok) {
          return std::unexpected(std::move(ok.error()));
        }
        break;
      case Parsed::kBadQuoting: {
        const LineEnd line = line_end(bytes, at);
        const bool endless = line.end == std::string_view::npos;
        const std::size_t text_end = endless ? bytes.size() : line.end;
        if (auto ok = hand_over_bad(bytes.substr(at, text_end - at)); !ok) {
          return std::unexpected(std::move(ok.error()));
        }
        if (endless) {
          skipping_line_ = true;
          return bytes.size();
        }
        after_cr_ = ends_with_bare_cr(bytes, line);
        next_ = line.next;
        next_line_ = line_ + 1;
        scanner.seek(next_);
        break;
      }
    }
    at = next_;
    line_ = next_line_;
  }
  return at;
}

void Reader::add_field(std::string_view field, bool is_quoted) {
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

// Doubled quotes become one. unescaped_ holds room for the whole row, so it never moves.
void Reader::add_unescaped(std::string_view escaped) {
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

Reader::Parsed Reader::parse_row(Scanner& scanner, std::size_t begin, std::string_view bytes,
                                 bool final) {
  fields_.clear();
  quoted_.clear();
  unescaped_.clear();
  reason_.clear();
  scanner.begin_row();
  next_line_ = line_;
  const std::size_t limit = std::min(bytes.size(), begin + options_.row_bytes_max);
  std::size_t field = begin;  // where the current field begins

  const auto too_long = [&](bool in_quotes) {
    reason_ = in_quotes ? fmt::format(
                              "a quote opened in field {} is not closed within {} bytes; close "
                              "it, or double the quotes inside the field",
                              fields_.size() + 1, options_.row_bytes_max)
                        : fmt::format("the row has more than the {} bytes allowed",
                                      options_.row_bytes_max);
    return Parsed::kBadQuoting;
  };

  while (true) {
    std::size_t at = scanner.next();
    if (at < bytes.size() && bytes[at] == '"') {
      if (at != field &&
          !(options_.trim_spaces && trimmed(bytes.substr(field, at - field)).empty())) {
        reason_ = fmt::format(
            "a quote inside field {}, which does not begin with one; put the field in "
            "quotes and double those inside it",
            fields_.size() + 1);
        return Parsed::kBadQuoting;
      }
      // A quoted field: to the next quote that is not doubled.
      const std::size_t text = at + 1;
      bool doubled = false;
      while (true) {
        at = scanner.next();
        if (at >= limit) break;
        const char c = bytes[at];
        if (c == '"') {
          if (at + 1 < bytes.size() && bytes[at + 1] == '"') {
            doubled = true;
            scanner.next();  // its twin
            continue;
          }
          break;
        }
        const bool lf_of_crlf = c == '\n' && bytes[at - 1] == '\r' && at > text;
        if ((c == '\n' || c == '\r') && !lf_of_crlf) {
          ++next_line_;
          if (next_line_ - line_ >= options_.row_lines_max) {
            reason_ = fmt::format(
                "a quote opened in field {} is not closed within {} lines; close it, or "
                "double the quotes inside the field",
                fields_.size() + 1, options_.row_lines_max);
            return Parsed::kBadQuoting;
          }
        }
      }
      if (at >= limit) {
        if (limit < bytes.size()) return too_long(true);
        if (!final) return Parsed::kIncomplete;
        reason_ = fmt::format(
            "a quote opened in field {} is never closed; close it, or double the quotes "
            "inside the field",
            fields_.size() + 1);
        return Parsed::kBadQuoting;
      }
      // A quote that ends the bytes at hand may be the first of two.
      if (at + 1 == bytes.size() && !final) return Parsed::kIncomplete;
      const std::string_view inside = bytes.substr(text, at - text);
      if (doubled) {
        if (unescaped_.empty()) unescaped_.reserve(std::min(options_.row_bytes_max, bytes.size()));
        add_unescaped(inside);
      } else {
        add_field(inside, true);
      }
      const std::size_t closing = at;
      at = scanner.next();
      // Even where only spaces follow so far.
      if (at == bytes.size() && !final) return Parsed::kIncomplete;
      const std::string_view after =
          bytes.substr(closing + 1, std::min(at, bytes.size()) - closing - 1);
      if (at < bytes.size() && bytes[at] == '"') {
        reason_ = fmt::format("text after the closing quote of field {}", fields_.size());
        return Parsed::kBadQuoting;
      }
      if (!(after.empty() || (options_.trim_spaces && trimmed(after).empty()))) {
        reason_ = fmt::format(
            "text after the closing quote of field {}; double the quotes inside a "
            "field, and close it before the delimiter",
            fields_.size());
        return Parsed::kBadQuoting;
      }
    } else {
      if (at >= limit && limit < bytes.size()) return too_long(false);
      if (at == bytes.size() && !final) return Parsed::kIncomplete;
      std::string_view value = bytes.substr(field, at - field);
      if (options_.trim_spaces) value = trimmed(value);
      add_field(value, false);
    }

    // `at` is the delimiter or the end of the row.
    if (at < bytes.size() && bytes[at] == options_.delimiter) {
      field = at + 1;
      continue;
    }
    row_end_ = at;
    next_ = at;
    if (at < bytes.size()) {
      const bool cr = bytes[at] == '\r';
      if (cr && at + 1 == bytes.size() && !final) return Parsed::kIncomplete;
      const bool crlf = cr && at + 1 < bytes.size() && bytes[at + 1] == '\n';
      if (crlf) scanner.next();
      next_ = at + (crlf ? 2 : 1);
      ++next_line_;
    }
    break;
  }

  if (row_end_ == begin) return Parsed::kBlank;
  if (!reason_.empty()) return Parsed::kBadRow;
  const std::string_view text = bytes.substr(begin, row_end_ - begin);
  if (scanner.may_be_unusual()) {
    const std::size_t bad = first_bad_byte(text);
    if (bad < text.size()) {
      reason_ =
          text[bad] == '\0'
              ? fmt::format("a NUL byte at byte {} of the row; remove it", bad + 1)
              : fmt::format("byte {} of the row (0x{:02X}) is not UTF-8; save the file as UTF-8",
                            bad + 1, static_cast<unsigned>(text[bad]) & 0xFFu);
      return Parsed::kBadRow;
    }
  }
  if (has_header_ && fields_.size() != columns_) {
    reason_ = fmt::format("the row has {} fields, the header {}", fields_.size(), columns_);
    return Parsed::kBadRow;
  }
  return Parsed::kRow;
}

Result<void> Reader::hand_over(std::string_view text) {
  if (options_.has_header && !has_header_) {
    const auto header = Header::of(fields_);
    if (!header) return std::unexpected(header.error());
    has_header_ = true;
    columns_ = header->size();
    return sink_.header(*header);
  }
  ++rows_;
  return sink_.row({.line = line_, .fields = fields_, .quoted = quoted_, .text = text});
}

Result<void> Reader::hand_over_bad(std::string_view text) {
  if (options_.has_header && !has_header_) {
    return fail(ErrorCode::kBadFile,
                fmt::format("the header (line {}) can't be read: {}", line_, reason_));
  }
  ++bad_rows_;
  return sink_.bad_row(
      {.line = line_, .reason = reason_, .text = text.substr(0, limits::kRejectedTextBytesMax)});
}

Result<void> read(std::string_view text, const Options& options, Sink& sink) {
  Reader reader(options, sink);
  return reader.read_all(text);
}

}  // namespace pennyweight::csv
