// RowParser: splits one row of CSV into its fields, by the quoting rules of RFC 4180 and within the
// limits of the options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/csv/options.h"
#include "ingest/csv/scanner.h"

namespace pennyweight::csv {

enum class RowStatus {
  kRow,
  kBlank,       // an empty line
  kIncomplete,  // the bytes at hand may not hold the whole row
  kBadRow,      // its end is known, its content is wrong
  kBadQuoting,  // nobody can know where it ends
};

class RowParser {
 public:
  explicit RowParser(const Options& options) : options_(options) {}

  // Rows with another count of fields are bad from now on.
  void require_width(std::size_t fields) { width_ = fields; }

  // Parses the row that begins at `begin`, on line `line`, where `scanner` stands. `final` says
  // that `bytes` reach to the end of the file. What the functions below return lives until the next
  // call, and as long as `bytes`.
  RowStatus parse(Scanner& scanner, std::string_view bytes, std::size_t begin, bool final,
                  std::uint64_t line);

  std::span<const std::string_view> fields() const { return fields_; }
  std::span<const std::uint8_t> quoted() const { return quoted_; }  // of each field: 1 if in quotes
  const std::string& reason() const { return reason_; }             // what is wrong and what to do
  std::size_t end() const { return end_; }                          // of the row's text
  std::size_t next() const { return next_; }                        // where the next row begins
  std::uint64_t next_line() const { return next_line_; }

 private:
  // The row being parsed. `limit`: bytes from here on are beyond row_bytes_max, or not at hand.
  struct Window {
    std::string_view bytes;
    std::size_t begin;
    std::size_t limit;
    bool final;
    std::uint64_t line;
  };

  // These parse one field from `field` on, where the scanner has stopped at `at`. They move `at` to
  // the delimiter or the end of the row, and return kRow.
  RowStatus parse_bare_field(const Window& row, std::size_t field, std::size_t at);
  RowStatus parse_quoted_field(const Window& row, Scanner& scanner, std::size_t field,
                               std::size_t& at);

  // Moves `at` to the quote that ends a field whose text begins at `text`.
  RowStatus find_closing_quote(const Window& row, Scanner& scanner, std::size_t text,
                               std::size_t& at, bool& has_doubled);
  // A line break inside quotes.
  RowStatus count_quoted_line(const Window& row);
  // Nothing but spaces may stand between a closing quote and `at`.
  RowStatus check_after_quote(const Window& row, std::size_t closing, std::size_t at);
  RowStatus end_row(const Window& row, Scanner& scanner, std::size_t at);
  RowStatus check_row(const Window& row, const Scanner& scanner);

  RowStatus bad_quoting(std::string reason);
  RowStatus bad_row(std::string reason);
  bool is_blank(std::string_view between) const;  // counts as nothing beside a quoted field
  void add_field(std::string_view field, bool is_quoted);
  void add_unescaped(std::string_view escaped);

  Options options_;
  std::size_t width_ = 0;  // 0: any
  std::vector<std::string_view> fields_;
  std::vector<std::uint8_t> quoted_;
  std::string unescaped_;  // fields that held doubled quotes; reserved, so views into it stay
  std::string reason_;
  std::size_t end_ = 0;
  std::size_t next_ = 0;
  std::uint64_t next_line_ = 1;
};

}  // namespace pennyweight::csv
