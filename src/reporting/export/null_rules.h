// Applies the null rules of FOCUS to a row: empties what must be null, and counts it.
//
// Source: "nullability requirements" of each column (focus.finops.org, Cost and Usage), and of
// texts the attributes String Handling and Null Handling: no text stands for null. What must not be
// null and is, is for FocusDefaults.
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

  // Charges, by column.
  const std::map<std::string, std::uint64_t>& emptied() const { return emptied_; }

 private:
  void empty(FocusRow& row, std::string_view column);
  void empty_stand_ins(FocusRow& row);

  const FocusTable& table_;
  std::map<std::string, std::uint64_t> emptied_;
};

}  // namespace pennyweight
