// Restatement: what deliveries changed of a bill that was there: both versions of each line, where
// the difference is posted, and why.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ledger/store.h"
#include "report/table.h"

namespace pennyweight {

// One line of a bill before and after a delivery.
struct RestatedLine {
  std::optional<Charge> before;    // nothing: it came new
  std::optional<Charge> after;     // nothing: it is gone
  std::optional<Charge> reversal;  // of `before`, where its month was closed
  std::uint64_t import_number = 0;
  Money difference;          // of the effective cost
  std::string booked_month;  // whose accounts the difference is in
  bool is_adjustment() const {
    return reversal.has_value() || (after && after->booked_month != own_month());
  }
  std::string own_month() const;  // of the bill line
};

// Pairs what a delivery took back with what it brought: lines of one natural key, in the order of
// their ids; the rest stand alone. By import, then by the key.
std::vector<RestatedLine> restated_lines(std::span<const RetiredCharge> retired,
                                         std::span<const Charge> restated);

// A table for each currency: before, after, difference, where it is booked, and why.
std::vector<Table> restatement_tables(std::span<const RestatedLine> lines,
                                      std::span<const ImportRecord> imports);

}  // namespace pennyweight
