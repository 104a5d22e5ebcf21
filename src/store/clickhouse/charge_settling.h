// Bill lines held against a state of the ledger, under the style of their delivery
// (ledger/delivery.h): what is new, what conflicts, and, of a replacement, what it leaves out: that
// is retired, or taken back by a line of an open month.
#pragma once

#include "store/clickhouse/settling.h"

namespace pennyweight {

// REQUIRES: made().instead.
Result<void> settle_charges(Settling& settling);

}  // namespace pennyweight
