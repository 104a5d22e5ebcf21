// Reads `scontrol show node` (also with --oneliner): the nodes of a Slurm cluster.
//
// It gives names, processors (CPUTot), memory (RealMemory, in MiB), GPUs and shards (Gres), and on
// cloud nodes the instance (InstanceId, InstanceType, Slurm 24 and later). It gives neither the
// name of the cluster nor how long a node has existed; the caller supplies both.
//
// A node fact has one GPU model and one number of GPUs. So the first of several models stands for
// all of them; and for MIG instances, of which Slurm does not give the number of GPUs, the
// smallest number of GPUs with that many slices (sevenths) is assumed. Either makes a note that
// names the node: if it is wrong, describe the node in an inventory file. Nodes in state FUTURE do
// not exist yet and are skipped.
//
// State says whether a node can be used now, in words joined by '+' ("IDLE+DRAIN", "DOWN*+CLOUD").
// A node that is drained (also while its last jobs run), failed, in maintenance or down is out of
// use. One that Slurm has powered down is not: nobody pays for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/rejected_row.h"

namespace pennyweight::slurm {

inline constexpr std::size_t kNodesMax = 65'536;  // of one file; Slurm's own limit is the same

struct ScontrolOptions {
  ClusterId cluster;
  Instant from;      // since when the nodes are as the file says
  std::string file;  // the name to put into rejected rows
  // Whether a node is in the pool of its first partition; otherwise it is in the nameless pool of
  // the cluster. Set it like SacctOptions::partitions_are_pools.
  bool partitions_are_pools = false;
  // The zone of the machine that ran scontrol; only for since when a node is down, where scontrol
  // did not write epoch seconds (recorded_time.h).
  TimeZone zone = TimeZone::utc();
};

// A node as it is now.
struct NodeState {
  NodeId node;
  bool is_out;         // no new job can use it
  std::string state;   // "IDLE+DRAIN"
  std::string reason;  // as it was given; may be empty
  std::optional<Instant> reason_since;
  bool operator==(const NodeState&) const = default;
};

struct ScontrolNodes {
  std::vector<Node> nodes;            // in the order of the file, each name once
  std::vector<RejectedRow> rejected;  // also a node that is listed twice and differs
  std::uint64_t future = 0;           // passed over
  std::vector<NodeState> states;      // of `nodes`, in their order
  std::vector<std::string> notes;     // what is uncertain about a node
};

// Whether no new job can use a node in this state, as scontrol and sacctmgr write it.
bool is_out_of_use(std::string_view state);

// An error when the text is not scontrol's, or is beyond a limit.
Result<ScontrolNodes> parse_scontrol_nodes(std::string_view text, const ScontrolOptions& options);

}  // namespace pennyweight::slurm
