#include "telemetry/label_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"

namespace pennyweight::telemetry {
namespace {

// What exporters call a pod, its namespace and its container. Names that no scrape target has come
// before "pod", which may be the target's own.
struct PodNames {
  std::string_view pod;
  std::string_view name_space;
  std::string_view container;
};
constexpr PodNames kPodNames[] = {
    {"exported_pod", "exported_namespace", "exported_container"},
    {"podname", "podnamespace", "ctrname"},           // HAMi, Volcano
    {"pod_name", "pod_namespace", "container_name"},  // dcgm-exporter 1.x
    {"exported_pod_name", "exported_pod_namespace", "exported_container_name"},
    {"pod", "namespace", "container"},
};

bool is_address(std::string_view host) {
  return host.find(':') != std::string_view::npos ||  // IPv6
         std::ranges::all_of(host, [](char c) { return ascii::is_digit(c) || c == '.'; });
}

// The host of "host:port"; empty where it is an address, or localhost.
std::string_view host_name(std::string_view instance) {
  const std::size_t colon = instance.rfind(':');
  const std::string_view host = instance.substr(0, colon);
  if (host == "localhost" || is_address(host)) return {};
  return host;
}

}  // namespace

std::string_view LabelView::value(std::string_view name) const {
  const auto at = std::ranges::lower_bound(labels_, name, {}, &prometheus::Label::name);
  return at != labels_.end() && at->name == name ? std::string_view(at->value) : std::string_view{};
}

std::string_view LabelView::exporter_value(std::string_view name) const {
  constexpr std::string_view kExported = "exported_";
  std::array<char, 64> renamed;
  if (kExported.size() + name.size() <= renamed.size()) {
    auto* const end =
        std::ranges::copy(name, std::ranges::copy(kExported, renamed.begin()).out).out;
    if (const auto text = value({renamed.begin(), end}); !text.empty()) return text;
  }
  return value(name);
}

std::string_view LabelView::first_exporter_value(
    std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    if (const std::string_view text = exporter_value(name); !text.empty()) return text;
  }
  return {};
}

bool LabelView::is_exporter(std::string_view pod) const {
  return std::ranges::any_of(options_.exporters, [&](const std::string& word) {
    return !word.empty() && pod.find(word) != std::string_view::npos;
  });
}

std::string LabelView::workload() const {
  for (const PodNames& names : kPodNames) {
    const std::string_view pod = value(names.pod);
    if (pod.empty() || is_exporter(pod) || is_exporter(value(names.container))) continue;
    std::string_view name_space = value(names.name_space);
    // The target has a pod but no namespace, so the exporter's namespace kept its name.
    if (name_space.empty() && names.pod == "exported_pod") name_space = value("namespace");
    return name_space.empty() ? std::string(pod) : fmt::format("{}/{}", name_space, pod);
  }
  return std::string(first_exporter_value({"hpc_job", "slurm_job_id", "slurm_jobid", "slurm_job"}));
}

ClusterId LabelView::cluster() const {
  if (!options_.cluster_label.empty()) {
    if (const auto named = value(options_.cluster_label); !named.empty()) {
      return ClusterId(std::string(named));
    }
  }
  return options_.cluster;
}

NodeId LabelView::node() const {
  for (const std::string_view name :
       {"Hostname", "hostname", "node", "node_name", "nodename", "nodeid", "kubernetes_node"}) {
    const std::string_view text = exporter_value(name);
    if (!text.empty() && !is_exporter(text)) return NodeId(std::string(text));
  }
  return NodeId(std::string(host_name(value("instance"))));
}

std::string LabelView::source(std::string_view family, std::string_view variant) const {
  std::string text(family);
  if (!variant.empty()) text.append(" ").append(variant);
  for (const std::string& label : options_.replica_labels) {
    if (const auto replica = value(label); !replica.empty()) text.append(" of ").append(replica);
  }
  return text;
}

bool LabelView::has_storable_labels() const {
  return std::ranges::all_of(labels_, [](const prometheus::Label& label) {
    return label.value.size() <= limits::kIdBytesMax && is_plain_text(label.value);
  });
}

}  // namespace pennyweight::telemetry
