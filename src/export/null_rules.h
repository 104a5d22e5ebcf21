// The null rules of FOCUS over one row: what must be null is made so and counted, what must not be
// null is counted, and what follows from other columns is filled in.
//
// Source: "nullability requirements" of each column (focus.finops.org, Cost and Usage). A value
// that the bill lacks and that nothing else tells is never made up.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "export/focus_table.h"

namespace pennyweight {

class NullRules {
 public:
  // REQUIRES: the table is settled and outlives this.
  explicit NullRules(const FocusTable& table) : table_(table) {}

  // Of a line of the bill, before it is split.
  void apply(FocusRow& row);
  // Of a row as it is written: prices in pricing currency are those in billing currency where the
  // bill names no other, and the host is the service provider where it names none. Not counted:
  // this is what the specification says that they are.
  void fill_in(FocusRow& row) const;

  // Lines, by column.
  const std::map<std::string, std::uint64_t>& emptied() const { return emptied_; }
  const std::map<std::string, std::uint64_t>& missing() const { return missing_; }

 private:
  bool is_null(const FocusRow& row, std::string_view column) const;
  std::string_view text(const FocusRow& row, std::string_view column) const;
  void empty(FocusRow& row, std::string_view column);
  void demand(const FocusRow& row, std::string_view column);

  const FocusTable& table_;
  std::map<std::string, std::uint64_t> emptied_;
  std::map<std::string, std::uint64_t> missing_;
};

}  // namespace pennyweight
