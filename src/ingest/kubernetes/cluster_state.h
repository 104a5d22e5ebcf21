// ClusterState: what is known of a Kubernetes cluster now, and the facts that follow from it.
//
// Objects come in any order: from list and watch, or from the series of kube-state-metrics. Facts
// go out when they are asked for:
//
//   Holding  of each pod that runs a reading up to now, of each that ended the last word, once
//   Node     when one is new, or when something that a fact says has changed, or when it is gone
//   Gpu      the same, of the cards that HAMi, Volcano and DRA drivers list
//   Outage   in pieces of an hour (outage_clock.h)
//
// Facts that were stated must not be contradicted by a collector that starts anew and lists
// everything again. So the ledger is asked what it knows (KnownFacts): a node that is as its last
// fact says is not stated again, nor is the end of a pod that has ended there. The first fact of a
// node is from its creation; a later one is from when the change was seen.
//
// A pod ends when its last container did; where nothing says when, then when its object was gone
// from a watch, or when it was last seen, where it vanished between two lists.
//
// Not thread-safe. Memory: about 2 KB of a pod, limits below.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kubernetes/node_facts.h"
#include "ingest/kubernetes/object.h"
#include "ingest/kubernetes/outage_clock.h"
#include "ingest/kubernetes/owner_chain.h"
#include "ingest/kubernetes/pod_holding.h"
#include "ingest/kubernetes/pod_record.h"
#include "ingest/kubernetes/workload_labels.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kPodsMax = 200'000;
inline constexpr std::size_t kNodesMax = 50'000;
inline constexpr std::size_t kOthersMax = 500'000;  // namespaces, claims, slices, owners, each
// Objects that are gone are kept while a pod may still need them; beyond so many of a kind, those
// that none needs are dropped.
inline constexpr std::size_t kGoneKept = 1'000;
inline constexpr std::size_t kProblemsKept = 1'000;  // between two facts()

// What the ledger has. Each may be empty: then it has nothing.
struct KnownFacts {
  std::function<std::optional<Node>(const NodeId&)> node;  // its latest fact
  std::function<std::optional<Gpu>(const GpuId&)> gpu;     // the latest, of any source
  std::function<bool(const WorkloadId&, const std::string& attempt)> has_ended;
};

struct ClusterOptions {
  ClusterId cluster{""};
  LabelOptions labels = {};
  // Kinds that are listed: holdings wait until each of them was, so that none is told without its
  // node, its namespace or its owner.
  std::vector<std::string> wait_for = {};
  // Pods without a GPU on nodes without one are not told.
  bool gpu_nodes_only = false;
  KnownFacts known = {};
};

struct Facts {
  std::vector<Holding> holdings;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Outage> outages;
  std::vector<std::string> problems;  // what could not be told, each said once, to be shown
};

struct ClusterCounts {
  std::size_t pods = 0;              // that wait or run
  std::size_t nodes = 0;             // that are there
  std::size_t owners = 0;            // objects that may own pods
  std::uint64_t objects = 0;         // applied
  std::uint64_t ended = 0;           // pods whose last word was told
  std::uint64_t without_time = 0;    // pods that ended as they began
  std::uint64_t labels_dropped = 0;  // of a holding, beyond what it may have
  std::uint64_t over_limit = 0;      // objects that were not taken for a limit
};

class ClusterState {
 public:
  explicit ClusterState(ClusterOptions options);
  ~ClusterState();
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // An object as it was at `at`: added, modified, or of a list.
  void apply(const Object& object, Instant at);
  // It was deleted; the object as it last was.
  void apply_deleted(const Object& object, Instant at);
  // A list of one type of resource was completed: of that kind (and, for owners, API group) there
  // are these uids and no others.
  void mark_relisted(std::string_view kind, std::string_view api_version,
                     const std::set<std::string>& uids, Instant at);
  // A pod ended then, as far as can be told from outside (kube-state-metrics).
  void end_pod(std::string_view uid, Instant end);

  // What is new, and a reading of everything that runs, up to `now`. REQUIRES: the state is known
  // up to `now`: where a watch or a source is silent because it is cut off, `now` is when it was
  // last heard. Time that is before an earlier `now` gives no readings.
  Facts facts(Instant now);

  ClusterCounts counts() const;

 private:
  struct PodEntry {
    PodRecord record;
    Instant seen;
    bool is_gone = false;
    Instant gone_at;
    std::string problems;  // that were told
  };
  struct NodeEntry {
    NodeRecord record;
    Instant changed;  // when what it says was first seen
    bool is_gone = false;
    Instant gone_at;
    bool is_told = false;      // as it is now
    std::optional<Node> told;  // its last fact
    OutageClock outages;
    std::vector<Gpu> cards;  // of its annotation and of its slices
    bool cards_changed = false;
    std::set<std::string, std::less<>> told_cards;
    std::string problem;  // that was told
  };
  struct CardEntry {
    std::optional<Gpu> told;
  };
  template <class Value>
  struct Kept {
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
  void update_cards(const std::string& node, Instant at);

  bool is_ready() const;
  std::optional<Instant> end_of(const PodEntry& pod) const;
  bool tell_pod(PodEntry& pod, Instant now, Facts& facts);  // true: it ended, and is done with
  void tell_nodes(Instant now, Facts& facts);
  void tell_cards(NodeEntry& node, Facts& facts);
  const NodeSharing* sharing_of(const std::string& node, std::string& problem);
  bool has_gpu(const std::string& node) const;
  bool has_card(const std::string& id, Instant now);
  PodLabels labels_of(const PodRecord& pod) const;
  void forget_unneeded();
  void problem(Facts& facts, std::string what);

  ClusterOptions options_;
  ClusterCounts counts_;
  std::set<std::string> listed_;  // kinds
  std::optional<Instant> told_until_;
  std::map<std::string, PodEntry, std::less<>> pods_;    // by uid
  std::set<std::string, std::less<>> done_;              // uids whose last word was told
  std::map<std::string, NodeEntry, std::less<>> nodes_;  // by name
  std::map<std::string, CardEntry, std::less<>> cards_;  // by uuid
  std::map<std::string, NodeSharing, std::less<>>
      remembered_;  // of nodes that only the ledger knows
  std::map<std::string, std::string, std::less<>> instances_;  // MIG instances: their card
  std::map<std::string, bool, std::less<>> asked_cards_;       // of the ledger
  std::optional<Instant> asked_at_;
  std::map<std::string, Kept<PackedTexts>, std::less<>> namespaces_;  // by name
  std::map<std::string, std::string, std::less<>> namespace_of_uid_;
  std::map<std::string, Kept<ResourceClaim>, std::less<>> claims_;            // by namespace/name
  std::map<std::string, ResourceSlice, std::less<>> slices_;                  // by uid
  std::map<std::string, std::set<std::string>, std::less<>> slices_of_node_;  // their uids
  std::map<std::string, const SliceDevice*, std::less<>> slice_devices_;      // driver/pool/device
  std::map<std::string, OwnerEntry, std::less<>> owners_;                     // by uid
};

}  // namespace pennyweight::kubernetes
