// Queries spot nodes: how many there were in the last day, and how many of them were taken back
// while somebody worked on them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/gpu/cloud_resource.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/store.h"

namespace pennyweight {

struct SpotUse {
  ClusterId cluster;
  std::uint64_t nodes = 0;  // there at some time of the last 24 hours
  std::vector<NodeId> interrupted;
};

// By cluster; those with spot nodes only. A node is one of spot if the bill of this month or the
// last one says so; one that is not billed yet is not known. It was taken back if it ended, did not
// go on under its name, and work on it that did not complete ended within two minutes.
Result<std::vector<SpotUse>> query_spot_use(Store& store, std::span<const JoinRule> join_rules,
                                            Instant now);

}  // namespace pennyweight
