// Closes a month, once nothing is open about its bills: the month is over, no row of a bill is
// aside, no part of a delivery is missing, and the provider's totals are those of the ledger.
#pragma once

#include <string>

#include "core/error.h"
#include "core/instant.h"
#include "ledger/closing.h"
#include "ledger/store.h"

namespace pennyweight {

struct ClosedBooks {
  Closing closing;
  std::string checked;  // BillStatus::checked_against()
};

// `closing`: month, at, by and reason. `even_so`: why a month that still runs is closed; empty: it
// is not. It becomes part of the closing's reason. Errors of kConflict name the amounts that are in
// the way, and what to do.
Result<ClosedBooks> close_books(Store& store, Closing closing, const std::string& even_so);

// Whether the month, such as "2026-03", is over in UTC.
bool is_month_over(const std::string& month, Instant now);

}  // namespace pennyweight
