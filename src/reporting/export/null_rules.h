// Applies the null rules of FOCUS to a row: empties and counts what must be null, counts what must
// not be null but is, and fills in what follows from other columns.
//
// Source: "nullability requirements" of each column (focus.finops.org, Cost and Usage). A value
// that the bill lacks, and that no other column implies, is never invented.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "reporting/export/focus_table.h"

namespace pennyweight {

class NullRules {
 public:
  // REQUIRES: the table's columns are fixed, and it outlives this.
  explicit NullRules(const FocusTable& table) : table_(table) {}

  // For the row of a charge, before it is split.
  void apply(FocusRow& row);
  // For a row as it is written: prices in pricing currency equal those in billing currency if the
  // bill names no other currency; the host is the service provider if the bill names none. The
  // specification defines both, so they are not counted.
  void fill_in(FocusRow& row) const;

  // Charges, by column.
  const std::map<std::string, std::uint64_t>& emptied() const { return emptied_; }
  const std::map<std::string, std::uint64_t>& missing() const { return missing_; }

 private:
  bool is_null(const FocusRow& row, std::string_view column) const;
  std::string_view text(const FocusRow& row, std::string_view column) const;
  void empty(FocusRow& row, std::string_view column);
  void count_if_null(const FocusRow& row, std::string_view column);

  const FocusTable& table_;
  std::map<std::string, std::uint64_t> emptied_;
  std::map<std::string, std::uint64_t> missing_;
};

}  // namespace pennyweight
