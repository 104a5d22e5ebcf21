// The audit through a ledger: whatever happens on the way in, the same facts and the same money.
#pragma once

#include <cstdint>
#include <string>

#include "audit.h"
#include "world.h"

namespace pennyweight::sim {

// In memory: a ledger filled in good order is what the world says, and adds up; one filled with
// everything going wrong, allocated again and again meanwhile, and then given everything once more,
// is the same to the last byte.
Finding audit_ledger(const World& world);

// The same in a DuckDB file that is closed and opened on the way. `folder` exists and is the
// caller's to remove.
Finding audit_duckdb(const World& world, const std::string& folder);

// A process that fills a DuckDB file is killed at random moments and another goes on from what it
// acknowledged. Forks: REQUIRES that no other thread of this process runs.
Finding audit_kill(const World& world, const std::string& folder);

}  // namespace pennyweight::sim
