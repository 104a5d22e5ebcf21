// StateMetrics: feeds a ClusterState from the series of kube-state-metrics.
//
// It is for clusters whose API pennyweight may not read, and for the past. Pods come from
// kube_pod_info, _status_phase, _start_time, _status_scheduled_time, _completion_time, _labels,
// _annotations, _owner, _service_account, _deletion_timestamp, _overhead_*,
// kube_pod_container_info, kube_pod_(init_)container_resource_requests and _limits,
// kube_pod_container_status_(last_)terminated_reason, _last_terminated_timestamp and
// kube_pod_container_state_started; nodes from
// kube_node_*; namespaces, Jobs, ReplicaSets, Deployments … from kube_namespace_labels,
// kube_job_owner, kube_replicaset_owner. Sidecars are recognised by the label restart_policy of
// newer versions.
//
// A pod is gone when kube-state-metrics goes on without it: it ends at its last sample, or at the
// stale marker after it if that came within `interval`. While kube-state-metrics itself is silent,
// nothing ends and nothing is read; settle() says how far the state is known. Pods reach the state
// one interval after the first sample, when the nodes have come as well.
//
// Not known from these series: claims beyond those of kube_pod_resourceclaim_info, what a claim was
// given, and when a node was cordoned. Owners have a kind and a name, but no uid.
//
// One cluster, one thread. The labels of a pod only come if kube-state-metrics was started with
// --metric-labels-allowlist; ksm_names.h restores their names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/instant.h"
#include "ingest/schedulers/kubernetes/cluster_state.h"
#include "ingest/schedulers/kubernetes/ksm_names.h"
#include "telemetry/classification.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kStateSeriesMax = 5'000'000;  // some 200,000 pods
// An object that is silent for this long while others are not is gone; its end is its last sample
// all the same.
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

  // A handle for the samples of the series, or 0: it is not needed, or there are too many. The same
  // series has the same handle as long as it is known.
  std::uint64_t declare(const telemetry::StateSeries& series);
  // Samples older than the series' last one are ignored. False: the handle belongs to an object
  // that is gone and forgotten; declare the series again.
  bool sample(std::uint64_t handle, std::int64_t at_ms, double value);
  bool stale(std::uint64_t handle, std::int64_t at_ms);

  // Gives the state what has changed and what is gone. Returns how far the state is known now: the
  // newest sample of all; nothing before the first.
  std::optional<Instant> settle();

  std::size_t series() const;
  std::uint64_t refused() const { return refused_; }  // for kStateSeriesMax

 private:
  struct TrackedObject;
  struct Series;
  struct SeriesTable;

  const StateMetricsOptions options_;
  const SanitizedNames names_;
  ClusterState& state_;
  std::unique_ptr<SeriesTable> table_;
  std::uint64_t refused_ = 0;
};

}  // namespace pennyweight::kubernetes
