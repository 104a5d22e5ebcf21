// Reader: a strict, streaming reader of CSV (RFC 4180): bytes in, rows of fields out, in bounded
// memory.
//
// It is strict because a bill that is read almost right is wrong: a row that breaks the rules is
// handed over as a bad row with its line and reason, and reading goes on. Rules beyond RFC 4180: a
// UTF-8 byte order mark is skipped; rows end with CRLF, LF or CR; empty lines are skipped; text is
// UTF-8 without NUL bytes.
//
// After a quoting error (a stray or an unterminated quote, a row over the limit) nobody can know
// where the row was meant to end. Reading goes on at the line after the one on which the row began,
// so that one lost quote never swallows the good rows after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/csv/header.h"
#include "ingest/csv/options.h"
#include "ingest/csv/row_parser.h"
#include "ingest/csv/scanner.h"

namespace pennyweight::csv {

// Everything in a Row points into the reader's memory and lives until the sink returns.
struct Row {
  std::uint64_t line = 0;  // 1-based, where the row begins
  std::span<const std::string_view> fields;
  std::span<const std::uint8_t> quoted;  // of each field: 1 if it was in quotes
  std::string_view text;                 // the row as in the file, without its line end
  bool has_line_end = true;              // false: the file ends after its last field
};

struct BadRow {
  std::uint64_t line = 0;
  std::string reason;     // what is wrong and what to do
  std::string_view text;  // cut at limits::kRejectedTextBytesMax; lives until the sink returns
};

// Receives the rows. An Error from a sink ends the reading, and feed() returns it.
class Sink {
 public:
  virtual ~Sink() = default;
  // Called once, before any row, if Options::has_header.
  virtual Result<void> header(const Header& header) = 0;
  // With a header, every row has as many fields as the header.
  virtual Result<void> row(const Row& row) = 0;
  virtual Result<void> bad_row(const BadRow& row) = 0;
};

class Reader {
 public:
  // `sink` must outlive the reader.
  Reader(const Options& options, Sink& sink);

  // Takes the bytes of the file, cut anywhere. An Error is about the file as a whole (binary,
  // UTF-16, a bad header) or came from the sink; after one, feed nothing more.
  Result<void> feed(std::string_view chunk);
  // The end of the file. An Error if there was no row at all.
  Result<void> finish();
  // The whole file at once, without a copy. REQUIRES: nothing has been fed.
  Result<void> read_all(std::string_view text);

  std::uint64_t rows() const { return rows_; }          // handed to row()
  std::uint64_t bad_rows() const { return bad_rows_; }  // handed to bad_row()

 private:
  // Reads all whole rows of `bytes`; returns the count of bytes that are done.
  Result<std::size_t> consume(std::string_view bytes, bool final);
  Result<void> hand_over(std::string_view text, bool has_line_end);
  Result<void> hand_over_bad(std::string_view text);
  Result<void> check_rows() const;
  Result<void> check_beginning(std::string_view bytes) const;

  Options options_;
  Sink& sink_;
  RowParser parser_;
  std::string buffer_;           // an incomplete row
  std::size_t retry_bytes_ = 0;  // buffer_ is not parsed again before it is this long
  bool begun_ = false;           // the first bytes have been checked
  bool skipping_line_ = false;   // to the end of the line of a row over the limit
  bool after_cr_ = false;        // a skipped line ended with CR: an LF that follows belongs to it
  bool has_header_ = false;
  std::uint64_t line_ = 1;
  std::uint64_t rows_ = 0;
  std::uint64_t bad_rows_ = 0;
};

// Reads a whole text.
Result<void> read(std::string_view text, const Options& options, Sink& sink);

}  // namespace pennyweight::csv
