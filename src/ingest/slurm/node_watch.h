// Nodes looked at again and again: from what scontrol says now to facts over time.
//
// * A node that is new, or differs from what was last told of it, is a Node fact since now; those
// of
//   the first look are since a time that the caller gives. An unchanged node tells nothing.
// * While a node is out of use, its outage is told in pieces that end at full quarters of an hour,
//   and a last one when it is back: a fact has an end, and this one has none yet. Pieces do not
//   depend on when they were looked for, so telling one twice is harmless.
// * An outage begins when the node was last seen in use, or when somebody gave the reason, if that
//   is later. At the first look: with the reason, and not before the caller's time.
// * A node that scontrol no longer names is noted and forgotten; nobody knows whether it is gone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/hash.h"
#include "core/id.h"
#include "core/instant.h"
#include "ingest/slurm/scontrol_nodes.h"
#include "ledger/node.h"
#include "ledger/outage.h"

namespace pennyweight::slurm {

struct WatchedNode {
  Hash128 content;  // of the fact that was told last, but for its `from`
  Instant seen;     // when it was last looked at
  // Set while it is out of use: all before has been told.
  std::optional<Instant> out_since;
  std::string out_reason;  // while it is; its last one, since scontrol forgets it with the outage
  bool operator==(const WatchedNode&) const = default;
};

using WatchedNodes = std::map<NodeId, WatchedNode>;

struct NodeNews {
  std::vector<Node> nodes;
  std::vector<Outage> outages;
  std::vector<std::string> notes;
};

// What is new at `now`, and remembers it in `watched`. `since` is for nodes of the first look.
NodeNews look_at_nodes(const ScontrolNodes& read, Instant now, Instant since,
                       WatchedNodes& watched);

}  // namespace pennyweight::slurm
