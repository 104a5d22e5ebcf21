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
  // As reported (gpu_memory.h): what a vGPU's memory is a part of. 0: as the model has.
  std::uint64_t memory_bytes = 0;
};

// The error names what is unknown: a model that no table has, a profile that the model does not
// have, or a node that does not state its shards, MPS units or replicas.
Result<CardFraction> device_share(const Device& device, const CardAt& at);

}  // namespace pennyweight
