#include "ingest/csv/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/check.h"
#include "core/try.h"
#include "ingest/csv/utf16.h"

namespace pennyweight::csv {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::size_t kBeginningBytes = 4;  // enough to know every signature below

struct Signature {
  std::string_view bytes;
  std::string_view what;
};

// Files that are often mistaken for CSV because of their name.
constexpr Signature kSignatures[] = {
    {"\x1F\x8B", "is gzip; unpack it first"},
    {"\x28\xB5\x2F\xFD", "is zstd; unpack it first"},
    {"PK\x03\x04", "is a ZIP archive or a spreadsheet; unpack it, or save it as CSV"},
    {"PAR1", "is Parquet, not CSV; name it .parquet"},
    {"\x7F"
     "ELF",
     "is a program, not CSV"},
};

// The end of the line that holds `begin`, and where the next begins; both npos if it has no end.
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

// True if the line's CR is the last byte so far, so that an LF may follow.
bool ends_with_bare_cr(std::string_view bytes, const LineEnd& line) {
  return line.next == bytes.size() && line.next == line.end + 1 && bytes[line.end] == '\r';
}

}  // namespace

Reader::Reader(const Options& options, Sink& sink)
    : options_(options), sink_(sink), parser_(options) {}

Result<void> Reader::feed(std::string_view chunk) {
  buffer_.append(chunk);
  // An incomplete row is parsed again only when its bytes have doubled, so that feeding byte by
  // byte costs no more than twice reading it at once.
  if (buffer_.size() < std::max(retry_bytes_, kBeginningBytes)) return {};
  const auto done = TRY(consume(buffer_, false));
  buffer_.erase(0, done);
  retry_bytes_ = 2 * buffer_.size();
  return {};
}

Result<void> Reader::finish() {
  std::ignore = TRY(consume(buffer_, true));
  buffer_.clear();
  return check_rows();
}

Result<void> Reader::read_all(std::string_view text) {
  CHECK(buffer_.empty() && !begun_, "a reader reads one file");
  std::ignore = TRY(consume(text, true));
  return check_rows();
}

Result<void> Reader::check_rows() const {
  if (has_header_ && rows_ == 0 && bad_rows_ == 0 && options_.require_rows) {
    return fail(ErrorCode::kBadFile, "the file has a header and no rows; is the export complete?");
  }
  const bool nothing = !has_header_ && rows_ == 0 && bad_rows_ == 0;
  if (nothing && (options_.has_header || options_.require_rows)) {
    return fail(
        ErrorCode::kBadFile,
        "the file is empty: it was not written to its end; fetch it again, or leave it out");
  }
  return {};
}

Result<void> Reader::check_beginning(std::string_view bytes) const {
  if (const std::string_view mistake = utf16_mistake(bytes); !mistake.empty()) {
    return fail(ErrorCode::kBadFile, fmt::format("the file {}", mistake));
  }
  for (const Signature& signature : kSignatures) {
    if (bytes.starts_with(signature.bytes)) {
      return fail(ErrorCode::kBadFile, fmt::format("the file {}", signature.what));
    }
  }
  const std::string_view beginning = bytes.substr(0, kBeginningBytes);
  if (beginning.find('\0') != std::string_view::npos) {
    return fail(
        ErrorCode::kBadFile,
        "the file is not text: it begins with NUL bytes; it is binary, or broke while it was "
        "written, so fetch it again");
  }
  return {};
}

Result<std::size_t> Reader::consume(std::string_view bytes, bool final) {
  std::size_t at = 0;
  if (!begun_) {
    TRY(check_beginning(bytes));
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
    const RowStatus status = parser_.parse(scanner, bytes, at, final, line_);
    std::size_t next = parser_.next();
    std::uint64_t next_line = parser_.next_line();
    switch (status) {
      case RowStatus::kIncomplete:
        return at;
      case RowStatus::kBlank:
        break;
      case RowStatus::kRow:
        TRY(hand_over(bytes.substr(at, parser_.end() - at), parser_.end() < bytes.size()));
        break;
      case RowStatus::kBadRow:
        TRY(hand_over_bad(bytes.substr(at, parser_.end() - at)));
        break;
      case RowStatus::kBadQuoting: {
        const LineEnd line = line_end(bytes, at);
        const bool endless = line.end == std::string_view::npos;
        const std::size_t text_end = endless ? bytes.size() : line.end;
        TRY(hand_over_bad(bytes.substr(at, text_end - at)));
        if (endless) {
          skipping_line_ = true;
          return bytes.size();
        }
        after_cr_ = ends_with_bare_cr(bytes, line);
        next = line.next;
        next_line = line_ + 1;
        scanner.seek(next);
        break;
      }
    }
    at = next;
    line_ = next_line;
  }
  return at;
}

Result<void> Reader::hand_over(std::string_view text, bool has_line_end) {
  if (options_.has_header && !has_header_) {
    const auto header = TRY(Header::of(parser_.fields()));
    has_header_ = true;
    parser_.require_width(header.size());
    return sink_.header(header);
  }
  ++rows_;
  return sink_.row({.line = line_,
                    .fields = parser_.fields(),
                    .quoted = parser_.quoted(),
                    .text = text,
                    .has_line_end = has_line_end});
}

Result<void> Reader::hand_over_bad(std::string_view text) {
  if (options_.has_header && !has_header_) {
    return fail(ErrorCode::kBadFile,
                fmt::format("the header (line {}) can't be read: {}", line_, parser_.reason()));
  }
  ++bad_rows_;
  return sink_.bad_row({.line = line_,
                        .reason = parser_.reason(),
                        .text = text.substr(0, limits::kRejectedTextBytesMax)});
}

Result<void> read(std::string_view text, const Options& options, Sink& sink) {
  Reader reader(options, sink);
  return reader.read_all(text);
}

}  // namespace pennyweight::csv
