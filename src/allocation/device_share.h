// Computes what part of a whole GPU one device of a holding is, on a given machine.
#pragma once

#include <cstdint>
#include <string>

#include "allocation/components.h"
#include "core/error.h"
#include "ledger/holding.h"
#include "ledger/node.h"

namespace pennyweight {

struct CardAt {
  std::string gpu_model;       // of the GPU; empty: unknown
  const Node* node = nullptr;  // null: somewhere in a pool
};

// The error names what is unknown: a model that no table has, a profile that the model does not
// have, or a node that does not state its shards, MPS units or replicas.
Result<CardFraction> device_share(const Device& device, const CardAt& at);

}  // namespace pennyweight
