// Turns successive readings of scontrol into facts about nodes and outages over time.
//
// * A node that is new, or differs from its last fact, is a Node fact from now on. Facts of the
// first reading begin at a time that the caller gives. An unchanged node gives none.
// * While a node is out of use, its outage is reported in pieces (outage_pieces.h).
// * An outage begins when the node was last seen in use, or when its reason was given, if that is
// later. In the first reading it begins with the reason, but not before the caller's time.
// * What happened since a node was last seen is unknown, unless slurmdbd's events tell it. With
// them an outage that began and ended meanwhile is known, and when one ended that was seen before.
// * A node that scontrol no longer names is noted and forgotten: it is unknown whether it is gone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/hash.h"
#include "core/id.h"
#include "core/instant.h"
#include "ingest/schedulers/slurm/node_events.h"
#include "ingest/schedulers/slurm/scontrol_nodes.h"
#include "ledger/node.h"
#include "ledger/outage.h"

namespace pennyweight::slurm {

struct WatchedNode {
  Hash128 content;  // of its last fact, without `from`
  Instant seen;     // when it was last read
  // Set while it is out of use: the outage was reported up to here.
  std::optional<Instant> out_since;
  std::string out_reason;  // its last one, since scontrol forgets it when the outage ends
  bool operator==(const WatchedNode&) const = default;
};

using WatchedNodes = std::map<NodeId, WatchedNode>;

struct NodeChanges {
  std::vector<Node> nodes;
  std::vector<Outage> outages;
  std::vector<std::string> notes;
};

// The changes at `now`, which are also stored in `watched`. `since` is for nodes of the first
// reading. `events`: those since the last one, if they were asked for.
NodeChanges update_watched_nodes(const ScontrolNodes& read, Instant now, Instant since,
                                 WatchedNodes& watched, std::vector<NodeEvent> events = {});

}  // namespace pennyweight::slurm
