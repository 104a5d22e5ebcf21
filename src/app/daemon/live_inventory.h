// LiveInventory: the nodes, GPUs and holdings of the live view, kept without asking the ledger.
//
// It is loaded from the ledger once, and afterwards updated with what the collectors find. It also
// decides what the ledger needs: a running holding is read every few seconds, but only written when
// it begins, changes or ends, after each midnight (UTC), and from time to time in between. So a day
// that is over is in the ledger as a whole. What a process read and did not write yet is in its
// readings (readings_text()), which the next process takes over.
//
// A workload that is gone, and of which nobody saw the end, counts up to its last reading, or up to
// where telemetry still saw it. The rest is an UnknownEnd.
//
// Not thread-safe: it belongs to the ledger's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/alerting/serving_conditions.h"
#include "core/error.h"
#include "ledger/holding_reading.h"
#include "ledger/store.h"

namespace pennyweight {

// What a collector found since the last call.
struct CollectedFacts {
  std::vector<Holding> holdings;
  std::vector<HoldingReading> readings = {};
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Outage> outages;
  std::vector<RejectedRow> rejected;
  std::vector<std::string> problems;  // for the log
  // Workloads that are gone, and nobody saw when they ended.
  struct Vanished {
    ClusterId cluster;
    WorkloadId workload;
    std::string attempt;
    Instant gone_by;
  };
  std::vector<Vanished> vanished = {};
  // No facts of the ledger (pod_signals.h).
  std::vector<OomKill> kills = {};
  std::vector<std::pair<ClusterId, NodeId>> spot_nodes = {};  // all that are there

  bool empty() const {
    return holdings.empty() && nodes.empty() && gpus.empty() && outages.empty() && rejected.empty();
  }
};

// A holding whose end nobody saw: it counts up to its last reading, and was gone by `gone_by`.
struct UnknownEnd {
  Holding holding;
  Instant gone_by;
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
  // The readings that take() has kept back; they count as written, too. Either all of them, or only
  // those of holdings whose end nobody saw.
  std::vector<Holding> take_unwritten_readings(bool all);
  // The earliest instant about which what was taken says something that the ledger did not have,
  // since the last call.
  std::optional<Instant> take_changed_since() { return std::exchange(changed_since_, {}); }

  // The latest reading of each holding that has not ended, for the next process.
  std::string readings_text();
  // Takes over the readings of the process before. An Error where the text is none of ours.
  Result<void> restore_readings(std::string_view text);
  // Marks the holdings of a cluster that the process before saw running and nobody has read since:
  // they are gone, and nobody saw when they ended. REQUIRES: the collector of the cluster has
  // reported everything that runs there.
  void find_vanished(const ClusterId& cluster, Instant now);
  bool has_vanished() const { return vanished_ > 0; }
  // Telemetry saw a workload during `seen`: a run whose end is unknown lasted until then, at most
  // until the next run of that name began.
  void extend_vanished(const ClusterId& cluster, const WorkloadId& workload, const Interval& seen);
  // By cluster, when those were last read and gone whose telemetry in the ledger was not asked for
  // yet. While only the API was away, telemetry of them was written before they were gone.
  std::map<ClusterId, Interval> vanished_spans() const;
  void mark_vanished_spans_read();
  // The unknown ends of workloads that were gone before `gone_before`, each once.
  std::vector<UnknownEnd> take_unknown_ends(Instant gone_before);

  // Nodes of GPUs that telemetry shows and no source reports, each with as many GPUs as were found
  // on it.
  std::vector<Node> nodes_from_gpus(const std::set<ClusterId>& but_not) const;
  // Says which nodes telemetry names that no source of a watched cluster has; nothing where none.
  std::optional<std::string> note_of_unknown_nodes(const ClusterId& cluster) const;

  std::vector<ClusterId> clusters() const;
  std::vector<Node> nodes(const ClusterId& cluster) const;
  std::vector<Gpu> gpus(const ClusterId& cluster) const;
  // The collector of a cluster has reported everything that runs there: what only the ledger has as
  // running does not run.
  void mark_complete(const ClusterId& cluster) { complete_clusters_.insert(cluster); }
  // Whether a collector reports what runs there. If not, the ledger's holdings are all that is
  // known, and a node without one is not known to be free.
  bool is_watched(const ClusterId& cluster) const;
  // The holdings that overlap the window. One that was running when it was last read, not longer
  // than `trust` ago, runs up to the end of the window.
  std::vector<Holding> holdings(const ClusterId& cluster, const Interval& window,
                                std::chrono::milliseconds trust) const;
  // Forgets holdings that ended before `instant`.
  void forget_before(Instant instant);

  // When a GPU that telemetry shows came into its node. The first card at its place was there as
  // long as the node, and not only since it was first seen: a workload may have held it before.
  Instant begin_of(const Gpu& gpu) const;

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
    std::optional<Hash128> written = {};  // what the ledger has, without the time of the reading
    Instant written_at = {};
    bool is_read = false;                 // by a collector, since the ledger was loaded
    bool was_running = false;             // the process before saw it run
    std::optional<Instant> gone_by = {};  // nobody saw its end
    bool is_telemetry_read = false;       // what the ledger has of it after its last reading
    bool is_end_reported = false;         // as unknown
    // `latest` says what this one does, and the ledger has it.
    std::shared_ptr<const Holding> read_as = {};
    std::string name = {};  // in the readings; made when it is first needed
  };

  void take_node(const Node& node);
  void take_gpu(const Gpu& gpu);
  // Adds to `to_write` what the ledger needs of the holdings.
  void take_holdings(CollectedFacts& found, std::vector<Holding>& to_write);
  // Takes the readings that say nothing new. The others are added to the holdings that were found,
  // and returned.
  std::vector<HoldingReading> take_readings(CollectedFacts& found);
  HoldingState* find_holding(const Holding& holding);
  bool is_quiet(const HoldingState& held, const HoldingReading& reading) const;
  void note_change(Instant since);
  void vanish(HoldingState& held, Instant gone_by);

  const std::chrono::milliseconds reading_every_;
  std::map<std::pair<ClusterId, NodeId>, std::vector<Node>> nodes_;  // by from
  std::map<std::pair<ClusterId, GpuId>, std::vector<Gpu>> gpus_;     // by from
  std::map<Attempt, HoldingState, std::less<>> holdings_;
  std::set<ClusterId> complete_clusters_;
  std::optional<Instant> changed_since_;
  std::size_t vanished_ = 0;  // holdings with `gone_by`
};

}  // namespace pennyweight
