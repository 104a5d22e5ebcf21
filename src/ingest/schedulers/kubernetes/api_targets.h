// Finds the pods that have metrics to scrape, and where: by their annotations, or by a rule that
// selects them (dcgm-exporter, vLLM, Triton …).
//
// The labels of a target name the scraped pod under keys of their own (kubernetes_pod_name …):
// `pod` and `namespace` in an exporter's metrics are those of a workload, not of the exporter.
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
  // A pod must have all of these labels. Without any, every pod with the annotation
  // prometheus.io/scrape: "true", and port, path and scheme come from its annotations.
  std::map<std::string, std::string> match_labels = {};
  std::string name_space = {};  // empty: any
  std::string port = {};        // its name or number; empty: each port that the containers declare
  std::string path = "/metrics";
  std::string scheme = "http";
};

// The targets of a pod; none unless it is running and has an address. Sorted, without duplicates.
std::vector<ScrapeTarget> pod_targets(simdjson::dom::element pod,
                                      const std::vector<TargetRule>& rules);

}  // namespace pennyweight::kubernetes
