#include "ingest/schedulers/kubernetes/ksm_names.h"

#include <algorithm>
#include <utility>

#include "core/ascii.h"

namespace pennyweight::kubernetes {
namespace {

constexpr std::string_view kMig = "nvidia_com_mig_";

// Every resource that describes a device (core/gpu/resource_name.h).
constexpr std::pair<std::string_view, std::string_view> kResources[] = {
    {"nvidia_com_gpu", "nvidia.com/gpu"},
    {"nvidia_com_gpu_shared", "nvidia.com/gpu.shared"},
    {"nvidia_com_gpumem", "nvidia.com/gpumem"},
    {"nvidia_com_gpumem_percentage", "nvidia.com/gpumem-percentage"},
    {"nvidia_com_gpucores", "nvidia.com/gpucores"},
    {"nvidia_com_priority", "nvidia.com/priority"},
    {"volcano_sh_vgpu_number", "volcano.sh/vgpu-number"},
    {"volcano_sh_vgpu_memory", "volcano.sh/vgpu-memory"},
    {"volcano_sh_vgpu_memory_percentage", "volcano.sh/vgpu-memory-percentage"},
    {"volcano_sh_vgpu_cores", "volcano.sh/vgpu-cores"},
    {"amd_com_gpu", "amd.com/gpu"},
    {"gpu_intel_com_i915", "gpu.intel.com/i915"},
    {"gpu_intel_com_i915_monitoring", "gpu.intel.com/i915_monitoring"},
    {"gpu_intel_com_xe", "gpu.intel.com/xe"},
    {"gpu_intel_com_xe_monitoring", "gpu.intel.com/xe_monitoring"}};

constexpr std::string_view kLabels[] = {
    "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component",
    "app.kubernetes.io/part-of", "app.kubernetes.io/managed-by", "app.kubernetes.io/version",
    "batch.kubernetes.io/job-name", "job-name", "pod-template-hash", "notebook-name",
    "hub.jupyter.org/username", "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/pod-group-name",
    "kueue.x-k8s.io/job-owner-name", "kueue.x-k8s.io/job-owner-gvk",
    "jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/replicatedjob-name",
    "training.kubeflow.org/job-name", "training.kubeflow.org/replica-index",
    "leaderworkerset.sigs.k8s.io/name", "ray.io/cluster", "ray.io/node-type",
    "workflows.argoproj.io/workflow", "serving.kserve.io/inferenceservice",
    "serving.knative.dev/service", "serving.knative.dev/revision", "volcano.sh/job-name",
    "volcano.sh/queue-name", "scheduling.volcano.sh/queue-name", "kai.scheduler/queue",
    "runai/queue", "runai-gpu-group", "hami.io/vgpu-devices-allocated",
    "hami.io/node-nvidia-register", "volcano.sh/vgpu-ids-new", "volcano.sh/node-vgpu-register",
    "run.ai/reserve_for_gpu_index", "gpu-fraction", "gpu-memory", "gpu-fraction-num-devices",
    "gpu-sm-percentage", "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/region", "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region", "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name", "cloud.google.com/gke-nodepool",
    "cloud.google.com/gke-accelerator", "cloud.google.com/gke-accelerator-count",
    "cloud.google.com/gke-gpu-partition-size", "cloud.google.com/gke-gpu-sharing-strategy",
    "cloud.google.com/gke-max-shared-clients-per-gpu", "kubernetes.azure.com/agentpool",
    "karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType",
    "alpha.eksctl.io/instance-lifecycle", "cloud.google.com/gke-spot",
    "cloud.google.com/gke-preemptible", "cloud.google.com/gke-provisioning",
    "kubernetes.azure.com/scalesetpriority", "oci.oraclecloud.com/oke-is-preemptible",
    "karpenter.sh/nodepool", "karpenter.sh/provisioner-name", "oci.oraclecloud.com/node.pool.name",
    "kai.scheduler/node-pool", "runai/node-pool", "nvidia.com/gpu.product", "nvidia.com/gpu.count",
    "nvidia.com/gpu.memory", "nvidia.com/gpu.replicas", "nvidia.com/gpu.sharing-strategy",
    "nvidia.com/mig.strategy", "amd.com/gpu.product-name",
    // The keys that the label policy requires by default.
    "project-id", "team-id", "user-id"};

bool is_alphanumeric(char c) { return ascii::is_letter_or_digit(c); }

}  // namespace

std::string original_resource(std::string_view name) {
  for (const auto& [from, to] : kResources) {
    if (from == name) return std::string(to);
  }
  if (!name.starts_with(kMig)) return std::string(name);
  // A profile has neither '_' nor '-' of its own: each one was a '.'.
  std::string resource = "nvidia.com/mig-";
  resource += name.substr(kMig.size());
  std::replace(resource.begin(), resource.end(), '_', '.');
  return resource;
}

std::string sanitized(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    // A capital after a small letter begins a word: "jobName" is "job_name".
    const bool is_capital = ascii::is_upper(c);
    const bool is_hump = is_capital && i > 0 && ascii::is_lower(name[i - 1]);
    if (is_hump) text += '_';
    if (!is_alphanumeric(c)) {
      text += '_';
    } else {
      text += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return text;
}

SanitizedNames::SanitizedNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) names_.emplace(sanitized(name), name);
  for (const std::string_view name : kLabels) names_.emplace(sanitized(name), name);
}

std::string SanitizedNames::original(std::string_view sanitized_name,
                                     std::string_view prefix) const {
  if (!sanitized_name.starts_with(prefix)) return {};
  const std::string_view rest = sanitized_name.substr(prefix.size());
  if (const auto found = names_.find(rest); found != names_.end()) return found->second;
  // MIG profiles on a node: nvidia_com_mig_1g_5gb_count is a label named like its resource.
  if (rest.starts_with(kMig)) return original_resource(rest);
  return std::string(rest);
}

}  // namespace pennyweight::kubernetes
