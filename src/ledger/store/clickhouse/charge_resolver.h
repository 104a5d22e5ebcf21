// Bill lines held against a state of the ledger, under the style of their delivery
// (ledger/delivery.h): what is new, what conflicts, and, of a replacement, what it leaves out: that
// is retired, or taken back by a line of an open month.
#pragma once

#include "ledger/store/clickhouse/import_resolver.h"

namespace pennyweight {

// REQUIRES: result().instead.
Result<void> resolve_charges(ImportResolver& resolver);

}  // namespace pennyweight
