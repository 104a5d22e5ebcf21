// Names that kube-state-metrics has mangled, back into what Kubernetes calls them.
//
// Prometheus' label names have letters, digits and '_' only, so kube-state-metrics writes
// "nvidia_com_gpu" for the resource nvidia.com/gpu and "label_app_kubernetes_io_name" for the label
// app.kubernetes.io/name. A resource comes back exactly, since the ones that matter are known. A
// label can't: '.', '-', '/' and '_' have all become '_'. The labels that Kubernetes and the
// schedulers define are known; for others a site names them (ksm_labels), or else they stay as
// they are, without "label_" in front: "team_id".
//
// Source: kube-state-metrics, pkg/metric and internal/store: SanitizeLabelName, toSnakeCase.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::kubernetes {

// "nvidia_com_mig_1g_5gb" is nvidia.com/mig-1g.5gb; "memory" is memory. What is not known stays as
// it is; where it has "gpu" in it, requested_devices() will refuse it by name.
std::string resource_of(std::string_view mangled);

// As kube-state-metrics writes it, without a conflict's suffix.
std::string mangled(std::string_view name);

// Label or annotation names of a site, beside the built-in ones.
class MangledNames {
 public:
  explicit MangledNames(const std::vector<std::string>& names);
  // Of "label_app_kubernetes_io_name" with prefix "label_"; empty where the prefix is not there.
  std::string original(std::string_view mangled_name, std::string_view prefix) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace pennyweight::kubernetes
