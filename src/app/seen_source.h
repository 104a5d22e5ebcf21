// What telemetry saw, from the ledger into an allocation: a stretch at a time, card by card.
#pragma once

#include <span>

#include "allocate/seen.h"
#include "ledger/store.h"
#include "policy/policy.h"

namespace pennyweight {

// Of the samples only those of a few cards are in memory at once; what see() makes of them, 16
// bytes for each, is all there is of a stretch. Empty for no cluster.
// REQUIRES: the store outlives the source.
SeenSource seen_source(Store& store, const ClusterId& cluster, std::span<const Gpu> gpus,
                       const UsageRules& rules);

}  // namespace pennyweight
