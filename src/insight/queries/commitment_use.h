// Queries commitments of the bill: how much of each was used, and when it ends.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/money.h"
#include "ledger/store.h"

namespace pennyweight {

// A commitment or a capacity reservation in one billing month and currency, by effective cost.
struct CommitmentUse {
  std::string id;
  std::string month;  // "2026-03"
  Money used;
  Money unused;
  Instant from;                   // the begin of its first line in the month
  Instant until;                  // the end of its last line in the month
  std::optional<Date> ends = {};  // as the bill says; AWS does
};

// Of a billing month, "2026-03"; by id and currency. All charges of the month are read. Lines that
// say neither used nor unused count for nothing but the times.
Result<std::vector<CommitmentUse>> query_commitment_use(Store& store, const std::string& month);

// The day on which a commitment ends, as one of the other columns of a charge says:
// x_SavingsPlanEndTime and x_ReservationEndTime of AWS.
std::optional<Date> commitment_end_of(const Charge& charge);

}  // namespace pennyweight
