// Outage: a node, or one of its GPUs, was paid for and could not be used.
//
// It was drained, down, cordoned or faulted. Capacity that no workload held meanwhile is
// `unavailable` rather than `unallocated`; capacity that a workload held stays that workload's.
#pragma once

#include <string>

#include "core/id.h"
#include "core/instant.h"
#include "ledger/fact_id.h"

namespace pennyweight {

struct Outage {
  ClusterId cluster;
  NodeId node;
  GpuId gpu;  // empty: the node as a whole
  Interval during;
  std::string reason;  // "drained: replace fan", "Xid 79"

  FactId id;  // set by the store
  SourceLine source;

  Outage(ClusterId in, NodeId of, Interval over)
      : cluster(std::move(in)), node(std::move(of)), gpu(""), during(over) {}
  bool operator==(const Outage&) const = default;
};

Hash128 natural_key(const Outage& outage);  // cluster, node, gpu, begin
Hash128 content_hash(const Outage& outage);
std::string difference(const Outage& there, const Outage& here);

}  // namespace pennyweight
