// ClusterState: what is known about a Kubernetes cluster now, and the facts that follow from it.
//
// Objects come in any order: from list and watch, or from the series of kube-state-metrics. facts()
// gives what is new:
//
//   Holding  a reading up to now for each running pod, and the final one, once, for each that
//   ended.
//            With `gives_readings`, a pod that holds what it held before is a HoldingReading, which
//            costs no copy
//   Node     a node that is new or gone, or whose fact has changed
//   Gpu      the same for the GPUs that HAMi, Volcano and DRA drivers list
//   Outage   in pieces of an hour (outage_clock.h)
//
// A collector that restarts lists everything again, and must not contradict earlier facts. So it
// asks what the ledger has (KnownFacts): a node that is as its last fact says is not reported
// again, nor is the end of a pod that has ended in the ledger. The first fact of a node begins at
// its creation; a later one when the change was seen.
//
// A pod ends when its last container did. Where nothing says when, it ends when a watch showed its
// object as gone. If it vanished between two lists, its last reading is the last that is known: it
// is not marked as ended, since other sources may know more, and it is reported as vanished.
//
// Not thread-safe. Memory: about 2 KB for each pod; limits are below.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/schedulers/kubernetes/node_facts.h"
#include "ingest/schedulers/kubernetes/object.h"
#include "ingest/schedulers/kubernetes/outage_clock.h"
#include "ingest/schedulers/kubernetes/owner_chain.h"
#include "ingest/schedulers/kubernetes/pod_holding.h"
#include "ingest/schedulers/kubernetes/pod_record.h"
#include "ingest/schedulers/kubernetes/workload_labels.h"
#include "ledger/holding.h"
#include "ledger/holding_reading.h"
#include "ledger/node.h"
#include "ledger/outage.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kPodsMax = 200'000;
inline constexpr std::size_t kNodesMax = 50'000;
inline constexpr std::size_t kOthersMax = 500'000;  // namespaces, claims, slices, owners, each
// Objects that are gone are kept while a pod may still need them. Beyond so many of a kind, those
// that no pod needs are dropped.
inline constexpr std::size_t kGoneKept = 1'000;
inline constexpr std::size_t kProblemsKept = 1'000;  // between two calls of facts()
inline constexpr std::size_t kKillsKept = 10'000;    // between two calls of facts()

// Asks what the ledger has. A function may be empty: then it has nothing.
struct KnownFacts {
  std::function<std::optional<Node>(const NodeId&)> node;  // its latest fact
  std::function<std::optional<Gpu>(const GpuId&)> gpu;     // the latest, of any source
  std::function<bool(const WorkloadId&, const std::string& attempt)> has_ended;
};

struct ClusterOptions {
  ClusterId cluster{""};
  LabelOptions labels = {};
  // Kinds that will be listed. Holdings wait until each of them was, so that none is reported
  // without its node, its namespace or its owner.
  std::vector<std::string> wait_for = {};
  // Leaves out pods without a GPU on nodes without one.
  bool gpu_nodes_only = false;
  bool gives_readings = false;
  KnownFacts known = {};
};

// A pod of which nobody saw the end: its last reading, not marked as ended, is the last that is
// known of it.
struct VanishedPod {
  WorkloadId workload;
  std::string attempt;
  Instant gone_by;  // a list no longer had it
};

// A container of a pod that holds devices was killed for lack of memory.
struct MemoryKill {
  WorkloadId workload;
  std::string container;
  Instant at;
};

struct Facts {
  std::vector<Holding> holdings;
  std::vector<HoldingReading> readings = {};
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Outage> outages;
  std::vector<std::string> problems;  // what could not be reported; each once, to be shown
  std::vector<VanishedPod> vanished = {};
  std::vector<MemoryKill> kills = {};   // that are new
  std::vector<NodeId> spot_nodes = {};  // all that are there
};

struct ClusterCounts {
  std::size_t pods = 0;              // that wait or run
  std::size_t nodes = 0;             // that are there
  std::size_t owners = 0;            // objects that may own pods
  std::uint64_t objects = 0;         // applied
  std::uint64_t ended = 0;           // pods whose end was reported
  std::uint64_t without_time = 0;    // pods that ended as they began
  std::uint64_t labels_dropped = 0;  // of a holding, beyond what it may have
  std::uint64_t over_limit = 0;      // objects beyond a limit, which were dropped
};

class ClusterState {
 public:
  explicit ClusterState(ClusterOptions options);
  ~ClusterState();
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // An object as it was at `at`: added, modified, or of a list.
  void apply(const Object& object, Instant at);
  // The object was deleted; this is how it last was.
  void apply_deleted(const Object& object, Instant at);
  // A list of one type of resource was completed: of that kind (and, for owners, API group) these
  // uids exist and no others.
  void mark_relisted(std::string_view kind, std::string_view api_version,
                     const std::set<std::string>& uids, Instant at);
  // An owner or a namespace was deleted, of which only the uid is known. What is gone is kept while
  // a pod may still need it.
  void end_owner(std::string_view uid);
  // A pod ended then, as far as can be seen from outside (kube-state-metrics).
  void end_pod(std::string_view uid, Instant end);

  // What is new, and a reading of everything that runs, up to `now`. REQUIRES: the state is known
  // up to `now`: where a watch or a source is cut off, `now` is when it was last heard. A `now`
  // before an earlier one gives no readings.
  Facts facts(Instant now);

  ClusterCounts counts() const;

 private:
  struct PodEntry {
    PodRecord record;
    Instant seen;
    bool is_gone = false;
    Instant gone_at;
    std::optional<Instant> begin_seen;  // where its own begin lay in the future
    std::optional<Instant> missed_at;   // a list no longer had it: nobody saw its end
    std::string problems;               // that were reported
    std::optional<Instant> killed;      // the last kill that was noted
    // What it held when it was last reported, as long as `decided_by` is still so.
    std::vector<std::shared_ptr<const Holding>> holdings = {};
    std::uint64_t decided_by = 0;  // changes_ at that time
    Instant decided_at = {};
  };
  struct NodeEntry {
    NodeRecord record;
    Instant changed;  // when its present state was first seen
    bool is_gone = false;
    Instant gone_at;
    bool is_reported = false;      // as it is now
    std::optional<Node> reported;  // its last fact
    OutageClock outages;
    std::vector<Gpu> gpus;  // of its annotation and of its slices
    bool gpus_changed = false;
    std::set<std::string, std::less<>> reported_gpus;
    std::string problem;  // that was reported
  };
  struct GpuEntry {
    std::optional<Gpu> reported;
  };
  template <class Value>
  struct Tracked {
    Value value;
    bool is_gone = false;
  };
  struct OwnerEntry {
    OwnerRecord record;
    bool is_gone = false;
  };

  void apply_pod(const Pod& pod, Instant at, bool is_deleted);
  void apply_node(const NodeObject& node, Instant at, bool is_deleted);
  void apply_namespace(const Namespace& one, bool is_deleted);
  void apply_claim(const ResourceClaim& claim, bool is_deleted);
  void apply_slice(const ResourceSlice& slice, Instant at, bool is_deleted);
  void apply_owner(const Workload& workload, bool is_deleted);
  void gone_node(NodeEntry& node, Instant at);
  void gone_pod(PodEntry& pod, Instant at);
  void note_kills(const Pod& pod, PodEntry& entry, Instant at);
  void update_gpus(const std::string& node, Instant at);

  bool is_ready() const;
  std::optional<Instant> pod_end(const PodEntry& pod) const;
  bool report_pod(PodEntry& pod, Instant now, Facts& facts);  // true: it ended and may be forgotten
  bool give_readings(const PodEntry& pod, Instant now, Facts& facts) const;
  void report_nodes(Instant now, Facts& facts);
  void report_gpus(NodeEntry& node, Facts& facts);
  const NodeSharing* find_sharing(const std::string& node, std::string& problem);
  bool has_gpu(const std::string& node) const;
  bool is_known_gpu(const std::string& id, Instant now);
  PodLabels make_labels(const PodRecord& pod) const;
  void forget_unneeded();
  void problem(Facts& facts, std::string what);

  ClusterOptions options_;
  ClusterCounts counts_;
  std::set<std::string> listed_;   // kinds
  std::vector<MemoryKill> kills_;  // since the last facts()
  std::optional<Instant> reported_until_;
  std::uint64_t changes_ = 1;  // of what decides what pods hold, besides the pods themselves
  std::map<std::string, PodEntry, std::less<>> pods_;    // by uid
  std::set<std::string, std::less<>> done_;              // uids of pods whose end was reported
  std::map<std::string, NodeEntry, std::less<>> nodes_;  // by name
  std::map<std::string, GpuEntry, std::less<>> gpus_;    // by uuid
  std::map<std::string, NodeSharing, std::less<>>
      ledger_sharing_;  // of nodes that only the ledger knows
  std::map<std::string, std::string, std::less<>> instances_;  // MIG instances: their card
  std::map<std::string, bool, std::less<>> gpu_queries_;       // of the ledger
  std::optional<Instant> gpu_queries_at_;
  std::map<std::string, Tracked<PackedTexts>, std::less<>> namespaces_;  // by name
  std::map<std::string, std::string, std::less<>> namespace_of_uid_;
  std::map<std::string, Tracked<ResourceClaim>, std::less<>> claims_;         // by namespace/name
  std::map<std::string, ResourceSlice, std::less<>> slices_;                  // by uid
  std::map<std::string, std::set<std::string>, std::less<>> slices_of_node_;  // their uids
  std::map<std::string, const SliceDevice*, std::less<>> slice_devices_;      // driver/pool/device
  std::map<std::string, OwnerEntry, std::less<>> owners_;                     // by uid
};

}  // namespace pennyweight::kubernetes
