// made_up_fleet: makes an inventory for users who have none: clusters of GPU machines of one
// provider.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/node.h"

namespace pennyweight::bills {

struct MadeUpFleet {
  std::uint64_t seed = 1;
  std::string provider;  // "aws", "gcp", "azure", "oci"
  std::uint32_t nodes = 0;
  std::uint32_t clusters = 2;
  Instant prices_at;  // only instance types with a price at this time
  Instant from;       // when the machines start
};

// Machines with up to four GPU types that have a price in the catalog, in one region, with the
// provider's naming and numbering. Returns an error if there is none.
Result<std::vector<Node>> made_up_fleet(const MadeUpFleet& fleet, const Catalog& catalog);

}  // namespace pennyweight::bills
