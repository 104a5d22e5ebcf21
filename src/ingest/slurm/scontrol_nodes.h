// `scontrol show node` (also with --oneliner): the machines of a Slurm cluster.
//
// It gives names, processors (CPUTot), memory (RealMemory, in MiB), GPUs and shards (Gres), and on
// cloud nodes the instance (InstanceId, InstanceType, Slurm 24 and later). It does not say since
// when a node has been there, nor the name of the cluster: the caller does.
//
// A node fact has one GPU model. A node of several models, or of MIG instances alone, whose number
// of cards Slurm does not tell, is rejected with that reason: describe it in an inventory file.
// Nodes in state FUTURE do not exist yet and are passed over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  // A node is in the pool of its first partition; otherwise in the cluster's nameless one. To be
  // set like SacctOptions::partitions_are_pools.
  bool partitions_are_pools = false;
};

struct ScontrolNodes {
  std::vector<Node> nodes;            // in the order of the file, each name once
  std::vector<RejectedRow> rejected;  // also a node that is there twice and differs
  std::uint64_t future = 0;           // passed over
};

// An error when the text is not scontrol's, or is beyond a limit.
Result<ScontrolNodes> parse_scontrol_nodes(std::string_view text, const ScontrolOptions& options);

}  // namespace pennyweight::slurm
