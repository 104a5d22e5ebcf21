// The audit of distribute(): cost moves, and is neither created nor lost.
#pragma once

#include "audit.h"
#include "world.h"

namespace pennyweight::sim {

// Every transfer adds up to zero on each of its days in all four costs. A bucket that a rule moves
// is empty afterwards, or a note says why not. What owners have afterwards is the bill. The order
// of the postings does not matter.
Finding audit_transfers(const World& world);

}  // namespace pennyweight::sim
