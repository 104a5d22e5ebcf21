// Ledgers of earlier versions, brought to this one.
#pragma once

#include <cstdint>

#include "core/error.h"
#include "duckdb/database.h"

namespace pennyweight {

// Version 2 is that of the first programs; 3 was never in one that anybody had; 4 knew no workers.
inline bool can_upgrade(std::uint64_t version) { return version == 2 || version == 4; }

// All or nothing. What the ledger says stays the same: the same facts have the same ids, and come
// again without harm. REQUIRES: can_upgrade(version).
Result<void> upgrade_schema(duckdb::Connection& connection, std::uint64_t version);

}  // namespace pennyweight
