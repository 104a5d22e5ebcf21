// FocusDefaults: fills in what FOCUS requires and a bill lacks: what follows from other columns,
// and where nothing does, one documented value (docs/bills/focus-export.md, "Filled in").
//
// A provider's own bill has no columns for much that FOCUS makes mandatory. Every value here is one
// that the column's rules allow; amounts are never among them. Each is counted, so that whoever
// exports is told what the bill did not say.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "reporting/export/focus_table.h"

namespace pennyweight {

class FocusDefaults {
 public:
  // REQUIRES: the table's columns are fixed, and it outlives this.
  explicit FocusDefaults(const FocusTable& table) : table_(table) {}

  // For the row of a charge, after NullRules and before it is split.
  void apply(FocusRow& row);
  // For a row as it is written: prices in pricing currency equal those in billing currency if the
  // bill names no other currency; the host is the service provider if the bill names none. The
  // specification defines both, so they are not counted.
  void fill_in(FocusRow& row) const;

  // Charges, by column.
  const std::map<std::string, std::uint64_t>& filled() const { return filled_; }

 private:
  void put(FocusRow& row, std::string_view column, FocusCell cell);
  // The first of `from` that is not null; else `otherwise`.
  void copy(FocusRow& row, std::string_view column, std::initializer_list<std::string_view> from,
            std::string_view otherwise);
  void name_parties(FocusRow& row);
  void name_service(FocusRow& row);
  void name_price(FocusRow& row, const RowKind& kind);
  void describe_commitment(FocusRow& row, const RowKind& kind);

  const FocusTable& table_;
  std::map<std::string, std::uint64_t> filled_;
};

}  // namespace pennyweight
