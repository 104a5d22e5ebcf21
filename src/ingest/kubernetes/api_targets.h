// Which pods have metrics to scrape, and where: from their annotations, or by a rule that selects
// them (dcgm-exporter, vLLM, Triton …).
//
// The labels of a target say which pod was asked, in names of their own (kubernetes_pod_name …):
// `pod` and `namespace` in what an exporter tells are those of a workload, and not the exporter's.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::kubernetes {

inline constexpr std::size_t kTargetsPerPodMax = 32;

struct ScrapeTarget {
  std::string address = {};                        // "http://10.1.2.3:9400/metrics"
  std::map<std::string, std::string> labels = {};  // kubernetes_namespace, …_pod_name, …_node,
                                                   // …_container, …_port_name (if it has one)
  auto operator<=>(const ScrapeTarget&) const = default;
};

struct TargetRule {
  // All of these labels with these values; with none, every pod that has the annotation
  // prometheus.io/scrape: "true", and then port, path and scheme of its annotations count.
  std::map<std::string, std::string> match_labels = {};
  std::string name_space = {};  // empty: any
  std::string port = {};        // its name or number; empty: each port that the containers declare
  std::string path = "/metrics";
  std::string scheme = "http";
};

// Of a pod as the API tells it; none unless it runs and has an address. In order, without twins.
std::vector<ScrapeTarget> targets_of(simdjson::dom::element pod,
                                     const std::vector<TargetRule>& rules);

}  // namespace pennyweight::kubernetes
