// Restores the names of labels and resources that kube-state-metrics has sanitized.
//
// Label names in Prometheus have letters, digits and '_' only, so kube-state-metrics writes
// "nvidia_com_gpu" for the resource nvidia.com/gpu and "label_app_kubernetes_io_name" for the label
// app.kubernetes.io/name. A resource is restored exactly, since those that matter are known. A
// label can't be: '.', '-', '/' and '_' have all become '_'. The labels that Kubernetes and the
// schedulers define are known, and a site names others (ksm_labels). The rest stay as they are,
// without "label_": "team_id".
//
// Source: kube-state-metrics, pkg/metric and internal/store: SanitizeLabelName, toSnakeCase.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::kubernetes {

// "nvidia_com_mig_1g_5gb" is nvidia.com/mig-1g.5gb; "memory" is memory. An unknown name stays as it
// is; if it contains "gpu", requested_devices() will refuse it by name.
std::string original_resource(std::string_view sanitized);

// As kube-state-metrics writes it, without a suffix for conflicts.
std::string sanitized(std::string_view name);

// The label and annotation names that a site configured, beside the built-in ones.
class SanitizedNames {
 public:
  explicit SanitizedNames(const std::vector<std::string>& names);
  // The name behind "label_app_kubernetes_io_name" with the prefix "label_"; empty without the
  // prefix.
  std::string original(std::string_view sanitized_name, std::string_view prefix) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace pennyweight::kubernetes
