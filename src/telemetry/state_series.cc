#include "telemetry/state_series.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace pennyweight::telemetry {
namespace {

// kube-state-metrics, docs/metrics: who held what, on which node, owned by whom, and under which
// labels.
constexpr std::string_view kMetrics[] = {
    "kube_cronjob_info",
    "kube_deployment_labels",
    "kube_job_annotations",
    "kube_job_labels",
    "kube_job_owner",
    "kube_namespace_annotations",
    "kube_namespace_labels",
    "kube_node_annotations",
    "kube_node_created",
    "kube_node_info",
    "kube_node_labels",
    "kube_node_spec_unschedulable",
    "kube_node_status_allocatable",
    "kube_node_status_capacity",
    "kube_node_status_condition",
    "kube_pod_annotations",
    "kube_pod_completion_time",
    "kube_pod_container_info",
    "kube_pod_container_resource_limits",
    "kube_pod_container_resource_requests",
    "kube_pod_container_state_started",
    "kube_pod_container_status_last_terminated_reason",
    "kube_pod_container_status_last_terminated_timestamp",
    "kube_pod_container_status_terminated_reason",
    "kube_pod_created",
    "kube_pod_deletion_timestamp",
    "kube_pod_info",
    "kube_pod_init_container_resource_limits",
    "kube_pod_init_container_resource_requests",
    "kube_pod_labels",
    "kube_pod_owner",
    "kube_pod_start_time",
    "kube_pod_status_phase",
    "kube_pod_status_scheduled_time",
    "kube_replicaset_owner",
    "kube_statefulset_labels",
};
static_assert(std::ranges::is_sorted(kMetrics));

}  // namespace

std::optional<Classification> classify_state_series(const LabelView& labels) {
  constexpr std::string_view kExported = "exported_";
  const std::string_view metric = labels.metric();
  if (!std::ranges::binary_search(kMetrics, metric)) return std::nullopt;
  const ClassificationOptions& options = labels.options();
  const auto is_of_sender = [&](std::string_view name) {
    return name == "__name__" || name == "job" || name == "instance" || name == "prometheus" ||
           name == options.cluster_label ||
           std::ranges::find(options.replica_labels, name) != options.replica_labels.end();
  };
  StateSeries series{.cluster = labels.cluster(), .metric = std::string(metric), .labels = {}};
  for (const prometheus::Label& label : labels.all()) {
    // A label that also exists as exported_* is the scrape target's.
    if (is_of_sender(label.name) || !labels.value(std::string(kExported) + label.name).empty()) {
      continue;
    }
    std::string name = label.name;
    if (name.starts_with(kExported) && name.size() > kExported.size()) {
      name.erase(0, kExported.size());
    }
    series.labels.push_back({std::move(name), label.value});
  }
  std::ranges::sort(series.labels);
  return series;
}

}  // namespace pennyweight::telemetry
