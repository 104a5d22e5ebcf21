// Cells: the typed values of one row, by column name; they remember the first error.
//
// A parser reads all cells that it needs and checks once, at the end, for a refusal. After a
// refusal the values mean nothing. A column that the table does not have reads as an empty cell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/instant.h"
#include "ingest/csv/header.h"
#include "ingest/csv/reader.h"

namespace pennyweight::csv {

struct Refusal {
  std::string column;  // empty: the row as a whole
  std::string reason;  // what is wrong and what to do
};

class Cells {
 public:
  // Both must outlive the cells.
  Cells(const Header& header, const Row& row) : header_(header), row_(row) {}

  // The text as written; empty if the table has no such column.
  std::string_view text(std::string_view column) const;
  bool has(std::string_view column) const { return !text(column).empty(); }

  // A name or id: at most limits::kIdBytesMax, and not the word NULL.
  std::string_view name(std::string_view column);           // required
  std::string_view optional_name(std::string_view column);  // may be empty

  // Digits only, at most `max`.
  std::uint64_t count(std::string_view column, std::uint64_t max);  // required
  std::optional<std::uint64_t> optional_count(std::string_view column, std::uint64_t max);

  // A decimal number that is a whole count of 1/units: 1.5 at 1024 is 1536.
  std::uint64_t scaled(std::string_view column, std::uint64_t units);  // required
  std::optional<std::uint64_t> optional_scaled(std::string_view column, std::uint64_t units);

  // The same, to the nearest whole count, half-even: for 503.53 GiB as bytes.
  std::optional<std::uint64_t> optional_nearest(std::string_view column, std::uint64_t units);

  // A time as core/instant.h reads it.
  Instant instant(std::string_view column);  // required
  std::optional<Instant> optional_instant(std::string_view column);

  // The first refusal stays.
  void refuse(std::string_view column, std::string reason);
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  bool demand(std::string_view column);
  template <class Convert>
  std::optional<std::uint64_t> converted(std::string_view column, Convert convert);

  const Header& header_;
  const Row& row_;
  std::optional<Refusal> refusal_;
};

}  // namespace pennyweight::csv
