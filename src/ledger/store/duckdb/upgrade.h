// Upgrades ledgers of earlier versions.
#pragma once

#include <cstdint>

#include "core/duckdb/database.h"
#include "core/error.h"

namespace pennyweight {

// Version 2 is that of the first programs; 3 was never in one that anybody had; 4 knew no workers,
// and 5 no statements of bills.
inline bool can_upgrade(std::uint64_t version) {
  return version == 2 || version == 4 || version == 5;
}

// All or nothing. The content stays the same: facts keep their ids, so importing them again does no
// harm. REQUIRES: can_upgrade(version).
Result<void> upgrade_schema(duckdb::Connection& connection, std::uint64_t version);

}  // namespace pennyweight
