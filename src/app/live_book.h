// LiveBook: what the live view knows of nodes, cards and holdings, without asking the ledger.
//
// It is loaded from the ledger once, and from then on told what collectors see. It also says what
// the ledger has to be told: a holding that goes on is read every few seconds, and written down
// when it begins, changes or ends, and now and then in between.
//
// Not thread-safe: the ledger's thread has it.
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

// What a collector saw since it was asked before.
struct Collected {
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

class LiveBook {
 public:
  // A holding that goes on is written again so much later.
  explicit LiveBook(std::chrono::milliseconds reading_every) : reading_every_(reading_every) {}

  // Nodes and cards, and the holdings that reach into `since` or later.
  Result<void> load(Store& store, Instant since);

  // Takes what was seen, and gives what of it the ledger is to be told. That is held for told: who
  // has it keeps it until the ledger has it.
  Collected take(Collected seen);

  // Nodes that telemetry knows and nobody else: as many cards as were seen there.
  std::vector<Node> nodes_of_telemetry(const std::set<ClusterId>& but_not) const;

  std::vector<ClusterId> clusters() const;
  std::vector<Node> nodes(const ClusterId& cluster) const;
  std::vector<Gpu> gpus(const ClusterId& cluster) const;
  // A collector has told everything that runs there: what the ledger alone knew to run, does not.
  void told_all(const ClusterId& cluster) { told_all_.insert(cluster); }
  // Those that overlap the window; one that still ran when it was last read, not longer than
  // `trust` ago, runs up to its end.
  std::vector<Holding> holdings(const ClusterId& cluster, const Interval& window,
                                std::chrono::milliseconds trust) const;
  // Forgets holdings that ended before.
  void forget_before(Instant instant);

  // For collectors: the latest facts.
  std::optional<Node> node(const ClusterId& cluster, const NodeId& name) const;
  std::optional<Gpu> gpu(const ClusterId& cluster, const GpuId& uuid) const;
  std::optional<GpuId> gpu_at(const ClusterId& cluster, const NodeId& node,
                              std::uint32_t index) const;
  bool has_ended(const ClusterId& cluster, const WorkloadId& workload,
                 const std::string& attempt) const;

 private:
  using Attempt = std::tuple<ClusterId, WorkloadId, std::string>;
  struct Held {
    Holding latest;
    std::optional<Hash128> told;  // what the ledger knows of it, but for when it was read
    Instant told_at;
    bool is_read = false;  // by a collector, since the ledger was read
  };

  void take_node(const Node& node);
  void take_gpu(const Gpu& gpu);

  const std::chrono::milliseconds reading_every_;
  std::map<std::pair<ClusterId, NodeId>, std::vector<Node>> nodes_;  // by from
  std::map<std::pair<ClusterId, GpuId>, std::vector<Gpu>> gpus_;     // by from
  std::map<Attempt, Held> holdings_;
  std::set<ClusterId> told_all_;
};

}  // namespace pennyweight
