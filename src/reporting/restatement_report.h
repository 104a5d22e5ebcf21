// The restatement report: what later deliveries changed in a bill. It shows both versions of each
// charge, the month in which the difference is booked, and the reason.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

// One charge before and after a delivery.
struct RestatedCharge {
  std::optional<Charge> before;    // empty: the charge is new
  std::optional<Charge> after;     // empty: the charge was retired
  std::optional<Charge> reversal;  // of `before`, if its month was closed
  std::uint64_t import_number = 0;
  Money difference;          // of the effective cost
  std::string booked_month;  // of the difference
  bool is_adjustment() const {
    return reversal.has_value() || (after && after->booked_month != own_month());
  }
  std::string own_month() const;  // the charge's billing month
};

// Pairs the retired and the new charges of each delivery that share a natural key, in the order of
// their ids; unpaired charges stand alone. Sorted by import, then by key.
std::vector<RestatedCharge> pair_restatements(std::span<const RetiredCharge> retired,
                                              std::span<const Charge> restated);

// One table per currency: before, after, difference, booked month, and reason.
std::vector<Table> restatement_tables(std::span<const RestatedCharge> lines,
                                      std::span<const ImportRecord> imports);

}  // namespace pennyweight
