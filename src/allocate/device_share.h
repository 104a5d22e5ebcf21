// What part of a card one device of a holding is, on a given machine.
#pragma once

#include <cstdint>
#include <string>

#include "allocate/components.h"
#include "core/error.h"
#include "ledger/holding.h"
#include "ledger/node.h"

namespace pennyweight {

struct CardAt {
  std::string gpu_model;       // of the card; empty: not known
  const Node* node = nullptr;  // nothing: somewhere in a pool
};

// An error says what is not known: a model that no table has, a profile that the model does not
// have, a node that does not say how many shards, MPS units or replicas it has.
Result<CardFraction> device_share(const Device& device, const CardAt& at);

}  // namespace pennyweight
