#include "telemetry/container_series.h"

#include <fmt/format.h>

#include <string_view>

#include "ledger/host_usage.h"

namespace pennyweight::telemetry {
namespace {

// cAdvisor (docs/storage/prometheus.md) and the kubelet's resource metrics (KEP-727) alike. The
// working set is what a container cannot give back, and what it is killed for.
constexpr std::string_view kCpuSeconds = "container_cpu_usage_seconds_total";
constexpr std::string_view kWorkingSet = "container_memory_working_set_bytes";

// A row of cAdvisor has the id of its cgroup; the resource page has none.
bool is_from(HostUsageSource source, const LabelView& labels) {
  const bool has_id = !labels.exporter_value("id").empty();
  return has_id == (source == HostUsageSource::kCadvisor);
}

// Whether it is of one container: cAdvisor also tells of the whole pod and of the whole node, and
// of the pause container that keeps a pod's network.
bool is_of_container(const LabelView& labels) {
  const std::string_view container = labels.exporter_value("container");
  const std::string_view cpu = labels.exporter_value("cpu");
  return !container.empty() && container != "POD" && (cpu.empty() || cpu == "total");
}

}  // namespace

std::optional<Classification> classify_container_series(const LabelView& labels) {
  const HostUsageSource source = labels.options().host_usage;
  const bool is_cpu = labels.metric() == kCpuSeconds;
  if (source == HostUsageSource::kNone || (!is_cpu && labels.metric() != kWorkingSet)) {
    return std::nullopt;
  }
  if (!is_from(source, labels) || !is_of_container(labels)) return Ignored{};
  const std::string_view pod = labels.exporter_value("pod");
  const std::string_view name_space = labels.exporter_value("namespace");
  if (pod.empty() || name_space.empty()) {
    return Unusable{"a container's use without its pod and namespace; scrape the kubelet itself"};
  }
  // A container that was started again is another one: its counter begins anew, and for a while
  // both may be told.
  return OutcomeSeries{
      .cluster = labels.cluster(),
      .workload = WorkloadId(fmt::format("{}/{}", name_space, pod)),
      .measure = std::string(is_cpu ? kHostCpuUsed : kHostMemoryUsed),
      .labels = {},
      .component = fmt::format("container={},id={}", labels.exporter_value("container"),
                               labels.exporter_value("id")),
      .source = labels.source("kubelet", ""),
      .per = is_cpu ? std::uint64_t{1000} : 1,
      .level_unit = is_cpu ? std::nullopt : std::optional(std::uint64_t{1024})};
}

void add_container_metric_names(const ClassificationOptions& options,
                                std::vector<std::string>& names) {
  if (options.host_usage == HostUsageSource::kNone) return;
  names.emplace_back(kCpuSeconds);
  names.emplace_back(kWorkingSet);
}

}  // namespace pennyweight::telemetry
