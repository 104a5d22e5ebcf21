// An outage as facts.
//
// A fact has an end, and the outage of a node that is out of use has none yet. So an outage is
// reported in pieces that end at full quarters of an hour, with a last one when the node is back.
// The pieces do not depend on when, or from what, an outage was read; reporting one twice is
// harmless.
#pragma once

#include <string>
#include <vector>

#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/outage.h"

namespace pennyweight::slurm {

// Appends the pieces of [begin, end) to `pieces`, without the last one where that does not end at a
// quarter and the outage goes on; returns up to where they reach.
Instant append_outage_pieces(const ClusterId& cluster, const NodeId& node,
                             const std::string& reason, const Interval& during, bool has_ended,
                             std::vector<Outage>& pieces);

}  // namespace pennyweight::slurm
