// A strict, streaming reader of CSV (RFC 4180): bytes in, rows of fields out, in bounded memory.
//
// Strict, because a bill that is read almost right is wrong: a row that breaks the rules is handed
// over as a bad row with its line and reason, and reading goes on. Rules beyond RFC 4180: a UTF-8
// byte order mark is skipped; rows end with CRLF, LF or CR; empty lines are skipped; text is UTF-8
// without NUL bytes.
//
// After a fault of quoting (a stray or an unterminated quote, a row over the limit) nobody can know
// where the writer's row ended. Reading goes on at the line after the one on which the row began,
// so that one lost quote never swallows the good rows behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "ingest/csv/header.h"
#include "ingest/csv/scanner.h"

namespace pennyweight::csv {

struct Options {
  char delimiter = ',';
  bool has_header = true;    // false: the first row is a row like any other
  bool trim_spaces = false;  // spaces and tabs around unquoted fields are not part of them
  bool require_rows = true;  // a header and nothing else is an Error
  std::size_t row_bytes_max = limits::kRowBytesMax;
  std::size_t field_bytes_max = limits::kFieldBytesMax;
  std::size_t columns_max = limits::kColumnsMax;
  std::size_t row_lines_max = 256;  // lines that one row may span by quoted newlines
};

// Everything in a Row points into the reader's memory and lives until the sink returns.
struct Row {
  std::uint64_t line = 0;  // 1-based, where the row begins
  std::span<const std::string_view> fields;
  std::span<const std::uint8_t> quoted;  // of each field: 1 where it stood in quotes
  std::string_view text;                 // the row as it stands in the file, without its line end
};

struct BadRow {
  std::uint64_t line = 0;
  std::string reason;     // what is wrong and what to do
  std::string_view text;  // cut at limits::kRejectedTextBytesMax; lives until the sink returns
};

// Who takes the rows. An Error from header() or row() ends the reading and is what feed() returns.
class Sink {
 public:
  virtual ~Sink() = default;
  // Called once, before any row, where Options::has_header.
  virtual Result<void> header(const Header& header) = 0;
  // With a header, every row has as many fields as the header.
  virtual Result<void> row(const Row& row) = 0;
  virtual Result<void> bad_row(const BadRow& row) = 0;
};

class Reader {
 public:
  // `sink` must outlive the reader.
  Reader(const Options& options, Sink& sink);

  // Bytes in any cut. An Error is about the file as a whole (binary, UTF-16, a bad header) or came
  // from the sink; nothing may be fed after it.
  Result<void> feed(std::string_view chunk);
  // The end of the file. An Error when there was no row at all.
  Result<void> finish();
  // The whole file at once, without a copy. REQUIRES: nothing has been fed.
  Result<void> read_all(std::string_view text);

  std::uint64_t rows() const { return rows_; }          // handed to row()
  std::uint64_t bad_rows() const { return bad_rows_; }  // handed to bad_row()

 private:
  enum class Parsed { kRow, kBlank, kIncomplete, kBadRow, kBadQuoting };

  // Reads as many whole rows of `bytes` as there are; the count of bytes that are done with.
  Result<std::size_t> consume(std::string_view bytes, bool final);
  // One row from `begin` on: fills fields_, quoted_, next_, next_line_, and reason_ where bad.
  Parsed parse_row(Scanner& scanner, std::size_t begin, std::string_view bytes, bool final);
  void add_field(std::string_view field, bool is_quoted);
  void add_unescaped(std::string_view escaped);
  Result<void> hand_over(std::string_view text);
  Result<void> hand_over_bad(std::string_view text);
  Result<void> check_rows() const;
  Result<void> check_beginning(std::string_view bytes) const;

  Options options_;
  Sink& sink_;
  std::string buffer_;           // an incomplete row and what came after it
  std::size_t retry_bytes_ = 0;  // buffer_ is not looked at again before it is this long
  bool begun_ = false;           // the first bytes have been looked at
  bool skipping_line_ = false;   // of a row over the limit, to its line's end
  bool after_cr_ = false;        // a skipped line ended with CR: an LF that follows belongs to it
  bool has_header_ = false;
  std::size_t columns_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t rows_ = 0;
  std::uint64_t bad_rows_ = 0;

  // Of the row being parsed.
  std::vector<std::string_view> fields_;
  std::vector<std::uint8_t> quoted_;
  std::string unescaped_;  // fields that held doubled quotes; reserved, so views into it stay
  std::string reason_;
  std::size_t row_end_ = 0;  // of its text
  std::size_t next_ = 0;     // where the next row begins
  std::uint64_t next_line_ = 1;
};

// Reads a whole text.
Result<void> read(std::string_view text, const Options& options, Sink& sink);

}  // namespace pennyweight::csv
