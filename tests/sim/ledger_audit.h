// The audit through a ledger: whatever happens during imports, the facts and the money are the
// same.
#pragma once

#include <cstdint>
#include <string>

#include "audit.h"
#include "world.h"

namespace pennyweight::sim {

// In memory. A ledger filled in good order must contain the world and add up. One in which
// everything goes wrong, with runs in between and all deliveries repeated at the end, must be the
// same to the last byte.
Finding audit_ledger(const World& world);

// The same in a DuckDB file that is closed and reopened on the way. `folder` exists; the caller
// removes it.
Finding audit_duckdb(const World& world, const std::string& folder);

// Kills a process that fills a DuckDB file at random moments; another one continues from the last
// acknowledged delivery. Forks. REQUIRES: no other thread of this process runs.
Finding audit_kill(const World& world, const std::string& folder);

}  // namespace pennyweight::sim
