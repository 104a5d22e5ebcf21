// The audit of what distribute() moves: it moves, and neither makes nor loses.
#pragma once

#include "audit.h"
#include "world.h"

namespace pennyweight::sim {

// Every transfer adds up to zero on each of its days, in all four costs; a bucket that a rule moves
// is empty afterwards, or a note says why it is not; what owners have afterwards is the bill; and
// the order of the postings changes nothing.
Finding audit_transfers(const World& world);

}  // namespace pennyweight::sim
