// StateMetrics: a cluster as the series of kube-state-metrics tell it, into a ClusterState.
//
// For clusters whose API pennyweight may not ask, and for the past: pods from kube_pod_info,
// _status_phase, _start_time, _status_scheduled_time, _completion_time, _labels, _annotations,
// _owner, _service_account, _deletion_timestamp, _overhead_*, kube_pod_container_info,
// kube_pod_(init_)container_resource_requests and _limits; nodes from kube_node_*; namespaces,
// Jobs, ReplicaSets, Deployments … from kube_namespace_labels, kube_job_owner,
// kube_replicaset_owner. Sidecars are told apart by the label restart_policy of newer versions.
//
// A pod is gone when kube-state-metrics goes on and no longer speaks of it: it ends at its last
// sample, or at the stale marker behind it where one came within `interval`. While
// kube-state-metrics itself is silent nothing ends, and nothing is read: settle() answers how far
// the state is known. Pods are handed on an interval after the first sample, when the nodes have
// come as well.
//
// Not known from here: claims that were not made from kube_pod_resourceclaim_info's, what a claim
// was given, when a node was cordoned. Owners have no uid in these series; kind and name do.
//
// One cluster, one thread. The labels of a pod come only if kube-state-metrics was started with
// --metric-labels-allowlist; their names are given back as ksm_names.h says.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/instant.h"
#include "ingest/kubernetes/cluster_state.h"
#include "ingest/kubernetes/ksm_names.h"
#include "telemetry/meaning.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kStateSeriesMax = 5'000'000;  // some 200,000 pods
// A thing is held for gone when it was silent for so long while others spoke; its end is its last
// sample all the same.
inline constexpr std::chrono::minutes kGoneAfter{5};

struct StateMetricsOptions {
  std::chrono::milliseconds interval{30'000};  // between two samples of a series
  std::vector<std::string> label_names = {};   // of the site: "example.com/team"
};

class StateMetrics {
 public:
  // `state` outlives this.
  StateMetrics(StateMetricsOptions options, ClusterState& state);
  ~StateMetrics();
  StateMetrics(const StateMetrics&) = delete;
  StateMetrics& operator=(const StateMetrics&) = delete;

  // A handle for the samples of the series, or 0: it says nothing that is needed, or there are too
  // many. The same series again has the same handle as long as it is known.
  std::uint64_t declare(const telemetry::StateSeries& series);
  // Samples older than the series' last one are passed over. False: the handle is of something that
  // is gone and forgotten; declare the series anew.
  bool sample(std::uint64_t handle, std::int64_t at_ms, double value);
  bool stale(std::uint64_t handle, std::int64_t at_ms);

  // Hands on to the state what has changed, and what is gone. How far the state is known now: the
  // newest sample of all; nothing before the first.
  std::optional<Instant> settle();

  std::size_t series() const;
  std::uint64_t refused() const { return refused_; }  // for kStateSeriesMax

 private:
  struct Thing;
  struct Series;
  struct Book;

  const StateMetricsOptions options_;
  const MangledNames names_;
  ClusterState& state_;
  std::unique_ptr<Book> book_;
  std::uint64_t refused_ = 0;
};

}  // namespace pennyweight::kubernetes
