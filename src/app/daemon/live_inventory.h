// LiveInventory: the nodes, GPUs and holdings of the live view, kept without asking the ledger.
//
// It is loaded from the ledger once, and afterwards updated with what the collectors find. It also
// decides what the ledger needs: a running holding is read every few seconds, but only written when
// it begins, changes or ends, and from time to time in between.
//
// Not thread-safe: it belongs to the ledger's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

// What a collector found since the last call.
struct CollectedFacts {
  std::vector<Holding> holdings;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Outage> outages;
  std::vector<RejectedRow> rejected;
  std::vector<std::string> problems;  // for the log

  bool empty() const {
    return holdings.empty() && nodes.empty() && gpus.empty() && outages.empty() && rejected.empty();
  }
};

class LiveInventory {
 public:
  // A running holding is written again after `reading_every`.
  explicit LiveInventory(std::chrono::milliseconds reading_every) : reading_every_(reading_every) {}

  // Loads nodes and GPUs, and the holdings that reach into `since` or later.
  Result<void> load(Store& store, Instant since);

  // Takes what was found, and returns the part that the ledger needs. From here on that part counts
  // as written: the caller keeps it until the ledger has it.
  CollectedFacts take(CollectedFacts found);

  // Nodes of GPUs that telemetry shows and no source reports, each with as many GPUs as were found
  // on it.
  std::vector<Node> nodes_from_gpus(const std::set<ClusterId>& but_not) const;

  std::vector<ClusterId> clusters() const;
  std::vector<Node> nodes(const ClusterId& cluster) const;
  std::vector<Gpu> gpus(const ClusterId& cluster) const;
  // The collector of a cluster has reported everything that runs there: what only the ledger has as
  // running does not run.
  void mark_complete(const ClusterId& cluster) { complete_clusters_.insert(cluster); }
  // The holdings that overlap the window. One that was running when it was last read, not longer
  // than `trust` ago, runs up to the end of the window.
  std::vector<Holding> holdings(const ClusterId& cluster, const Interval& window,
                                std::chrono::milliseconds trust) const;
  // Forgets holdings that ended before `instant`.
  void forget_before(Instant instant);

  // The latest facts, for collectors.
  std::optional<Node> node(const ClusterId& cluster, const NodeId& name) const;
  std::optional<Gpu> gpu(const ClusterId& cluster, const GpuId& uuid) const;
  std::optional<GpuId> gpu_at(const ClusterId& cluster, const NodeId& node,
                              std::uint32_t index) const;
  bool has_ended(const ClusterId& cluster, const WorkloadId& workload,
                 const std::string& attempt) const;

 private:
  using Attempt = std::tuple<ClusterId, WorkloadId, std::string>;
  struct HoldingState {
    Holding latest;
    std::optional<Hash128> written;  // what the ledger has, without the time of the reading
    Instant written_at;
    bool is_read = false;  // by a collector, since the ledger was loaded
  };

  void take_node(const Node& node);
  void take_gpu(const Gpu& gpu);

  const std::chrono::milliseconds reading_every_;
  std::map<std::pair<ClusterId, NodeId>, std::vector<Node>> nodes_;  // by from
  std::map<std::pair<ClusterId, GpuId>, std::vector<Gpu>> gpus_;     // by from
  std::map<Attempt, HoldingState> holdings_;
  std::set<ClusterId> complete_clusters_;
};

}  // namespace pennyweight
