#include "ingest/manifests/pod_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>
#include <utility>

#include "core/gpu/device_plugin_resources.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/kubernetes_quantity.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/schedulers/kubernetes/pod_request.h"

namespace pennyweight::manifests {
namespace {

// Labels of nodes that name the model of their GPUs.
constexpr std::string_view kModelKeys[] = {"nvidia.com/gpu.product",
                                           "cloud.google.com/gke-accelerator",
                                           "amd.com/gpu.product-name",
                                           "karpenter.k8s.aws/instance-gpu-name",
                                           "gpu.nvidia.com/class",
                                           "k8s.amazonaws.com/accelerator",
                                           "eks.amazonaws.com/instance-gpu-name"};
constexpr std::string_view kInstanceKeys[] = {"node.kubernetes.io/instance-type",
                                              "beta.kubernetes.io/instance-type"};
constexpr std::string_view kRegionKeys[] = {"topology.kubernetes.io/region",
                                            "failure-domain.beta.kubernetes.io/region"};
// Labels that nodes at spot prices carry, with their values.
constexpr std::pair<std::string_view, std::string_view> kSpotLabels[] = {
    {"karpenter.sh/capacity-type", "spot"},
    {"cloud.google.com/gke-spot", "true"},
    {"cloud.google.com/gke-preemptible", "true"},
    {"eks.amazonaws.com/capacityType", "SPOT"},
    {"kubernetes.azure.com/scalesetpriority", "spot"}};

// Beginnings of labels that only nodes of one provider carry.
constexpr std::pair<std::string_view, std::string_view> kProviderLabels[] = {
    {"cloud.google.com/", "gcp"},
    {"eks.amazonaws.com/", "aws"},
    {"karpenter.k8s.aws/", "aws"},
    {"k8s.amazonaws.com/", "aws"},
    {"kubernetes.azure.com/", "azure"}};

constexpr std::size_t kContainersMax = 1000;
constexpr std::size_t kClaimedRequestsMax = 64;  // of all claims of a pod

using NodeLabels = std::map<std::string, std::string, std::less<>>;

// One value of several that a node may have: the first if all are names of one model of GPU, else
// all of them, which is none that is known.
std::string one_model_of(const DocumentNode& values) {
  const GpuModel* model = nullptr;
  std::string all;
  bool is_one = true;
  for (const DocumentNode& value : values.items) {
    const GpuModel* const own = find_gpu_model(value.scalar);
    is_one = is_one && own != nullptr && (model == nullptr || own == model);
    model = own;
    if (!all.empty()) all += " or ";
    all += value.scalar;
  }
  return is_one && model != nullptr ? values.items.front().scalar : all;
}

// What the pod demands of its node: its selector, and the required terms of its affinity that leave
// one value, or several models of GPUs.
NodeLabels demanded_labels(const DocumentNode& pod_spec) {
  NodeLabels labels = read_texts(pod_spec["nodeSelector"]);
  const DocumentNode& terms = pod_spec.at(
      "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
  // Terms are alternatives; what only one of several says is not demanded.
  if (terms.items.size() != 1) return labels;
  for (const DocumentNode& term : terms.items[0]["matchExpressions"].items) {
    const DocumentNode& values = term["values"];
    if (term["operator"].scalar != "In" || values.items.empty()) continue;
    const bool names_model =
        std::ranges::find(kModelKeys, term["key"].scalar) != std::end(kModelKeys);
    if (values.items.size() == 1) {
      labels.emplace(term["key"].scalar, values.items[0].scalar);
    } else if (names_model) {
      labels.emplace(term["key"].scalar, one_model_of(values));
    }
  }
  return labels;
}

std::string first_of(const NodeLabels& labels, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto at = labels.find(key); at != labels.end()) return at->second;
  }
  return "";
}

RequestedPlace read_place(const NodeLabels& labels) {
  RequestedPlace place;
  for (const auto& [key, value] : labels) {
    for (const auto& [prefix, provider] : kProviderLabels) {
      if (key.starts_with(prefix)) place.provider = provider;
    }
  }
  place.gpu_model = first_of(labels, kModelKeys);
  place.instance_type = first_of(labels, kInstanceKeys);
  place.region = first_of(labels, kRegionKeys);
  place.is_spot = std::ranges::any_of(kSpotLabels, [&](const auto& spot) {
    const auto at = labels.find(spot.first);
    return at != labels.end() && at->second == spot.second;
  });
  return place;
}

// How the demanded node shares its GPUs, as far as its labels say.
NodeSharing demanded_sharing(const NodeLabels& labels, RequestedPlace& place) {
  NodeSharing sharing;
  if (const std::size_t mig = place.gpu_model.find("-MIG-"); mig != std::string::npos) {
    sharing.mig_profile = place.gpu_model.substr(mig + 5);
    place.gpu_model.resize(mig);
  }
  if (place.gpu_model.ends_with("-SHARED")) place.gpu_model.resize(place.gpu_model.size() - 7);
  if (const auto at = labels.find("cloud.google.com/gke-gpu-partition-size"); at != labels.end()) {
    sharing.mig_profile = at->second;
  }
  for (const std::string_view key :
       {"cloud.google.com/gke-max-shared-clients-per-gpu", "nvidia.com/gpu.replicas"}) {
    const auto at = labels.find(key);
    if (at == labels.end()) continue;
    const auto replicas = pennyweight::parse_count(at->second, 1000);
    if (replicas && *replicas > 1) sharing.replicas = static_cast<std::uint32_t>(*replicas);
  }
  sharing.gpu_model = place.gpu_model;
  return sharing;
}

KubernetesResources read_resources(const DocumentNode& node) {
  KubernetesResources resources;
  for (const auto& [name, quantity] : node.fields) {
    if (quantity.kind == DocumentNode::Kind::kScalar) resources.emplace(name, quantity.scalar);
  }
  return resources;
}

std::vector<kubernetes::Container> read_containers(const DocumentNode& list) {
  std::vector<kubernetes::Container> containers;
  for (const DocumentNode& node : list.items) {
    kubernetes::Container container;
    container.name = node["name"].scalar;
    container.image = node["image"].scalar;
    container.requests = read_resources(node.at("resources.requests"));
    container.limits = read_resources(node.at("resources.limits"));
    container.is_sidecar = node["restartPolicy"].scalar == "Always";
    containers.push_back(std::move(container));
  }
  return containers;
}

// Replicas of a shared GPU become fractions where their number is known.
Result<void> resolve_replicas(std::vector<RequestedDevice>& gpus, const NodeSharing& sharing) {
  for (RequestedDevice& gpu : gpus) {
    if (gpu.kind != RequestedDevice::Kind::kReplica) continue;
    if (sharing.replicas < 2) {
      return fail(ErrorCode::kBadValue,
                  "a replica of a shared GPU, of which nothing says how many a GPU has");
    }
    gpu.kind = RequestedDevice::Kind::kFraction;
    gpu.compute = CardShare::nearest_below(1, sharing.replicas);
    gpu.memory = gpu.compute;
  }
  return {};
}

// The name of an accelerator that is no GPU; empty where none is asked for. Without this it would
// be priced as if it cost nothing.
std::string other_accelerator(const std::vector<KubernetesResources>& extended) {
  static constexpr std::string_view kOthers[] = {"google.com/tpu", "aws.amazon.com/neuron",
                                                 "habana.ai/gaudi", "huawei.com/Ascend",
                                                 "cambricon.com/"};
  for (const KubernetesResources& resources : extended) {
    for (const auto& [name, quantity] : resources) {
      const bool is_other = std::ranges::any_of(
          kOthers, [&](std::string_view other) { return name.starts_with(other); });
      if (is_other && quantity != "0") {
        return fmt::format("{} of {}", printable_text(quantity, 60), printable_text(name, 120));
      }
    }
  }
  return "";
}

// Whose GPUs the extended resources are; requests for those of two vendors have been refused.
std::string requested_vendor(const std::vector<KubernetesResources>& extended) {
  for (const KubernetesResources& resources : extended) {
    for (const auto& [name, quantity] : resources) {
      if (quantity == "0") continue;
      if (std::string vendor = gpu_vendor_of(name.substr(0, name.find('/'))); !vendor.empty()) {
        return vendor;
      }
    }
  }
  return "";
}

// Extended resources that are neither GPUs nor known to be something else. A DeviceClass may give
// its GPUs any name.
std::vector<std::string> unknown_names(const std::vector<KubernetesResources>& extended) {
  std::vector<std::string> unknown;
  for (const KubernetesResources& resources : extended) {
    for (const auto& [name, quantity] : resources) {
      const std::size_t slash = name.find('/');
      // Names with "gpu" are read or refused as GPUs; those without a domain are Kubernetes' own.
      const bool is_known =
          slash == std::string::npos || name.find("gpu") != std::string::npos ||
          name.starts_with("nvidia.com/mig-") || name.starts_with("kubernetes.io/") ||
          name.substr(0, slash).ends_with(".kubernetes.io") || names_other_device(name);
      if (!is_known && quantity != "0") unknown.push_back(name);
    }
  }
  std::ranges::sort(unknown);
  const auto again = std::ranges::unique(unknown);
  unknown.erase(again.begin(), again.end());
  return unknown;
}

// Extended resources that stand for a device class, which are taken out of the containers'.
ClaimedGpus take_class_requests(std::vector<KubernetesResources>& extended,
                                const DeviceClaims& known) {
  ClaimedGpus all;
  for (KubernetesResources& resources : extended) {
    for (auto at = resources.begin(); at != resources.end();) {
      const std::string device_class = class_of_resource(at->first, known);
      if (device_class.empty()) {
        ++at;
        continue;
      }
      const auto count = pennyweight::parse_count(at->second, limits::kGpusPerHoldingMax);
      if (!count) {
        all.problem = fmt::format("{}: '{}' is no number of devices",
                                  printable_text(at->first, 120), printable_text(at->second, 60));
        return all;
      }
      if (*count > 0) join_claims(all, read_class(device_class, *count, known));
      at = resources.erase(at);
    }
  }
  return all;
}

// The claims that a pod states by name.
ClaimedGpus stated_claims(const DocumentNode& pod_spec, std::string_view name_space,
                          const DeviceClaims& known) {
  ClaimedGpus all;
  for (const DocumentNode& claim : pod_spec["resourceClaims"].items) {
    std::string name = claim["resourceClaimTemplateName"].scalar;
    const bool is_shared = name.empty();
    if (is_shared) name = claim["resourceClaimName"].scalar;
    const auto at = known.claims.find(claim_key(is_shared, fmt::format("{}/{}", name_space, name)));
    if (at == known.claims.end()) {
      all.problem = fmt::format(
          "the claim '{}' is in none of the files, so what it asks for is unknown; give that file "
          "too",
          printable_text(name, 120));
      return all;
    }
    ClaimedGpus one = at->second;
    if (!one.problem.empty()) {
      one.problem = fmt::format("the claim '{}': {}", printable_text(name, 120), one.problem);
    } else if (one.is_shared) {
      continue;  // its GPUs are priced with the claim
    }
    join_claims(all, one);
    if (!all.problem.empty()) return all;
    if (all.gpus.size() <= kClaimedRequestsMax) continue;
    all.gpus.clear();
    all.problem = fmt::format("its claims have more than {} requests", kClaimedRequestsMax);
    return all;
  }
  return all;
}

void add_claims(ReplicaGroup& group, const ClaimedGpus& claimed) {
  if (!claimed.problem.empty()) group.problem = claimed.problem;
  group.gpus.insert(group.gpus.end(), claimed.gpus.begin(), claimed.gpus.end());
  if (group.place.gpu_model.empty()) group.place.gpu_model = claimed.gpu_model;
  if (group.place.gpu_vendor.empty()) group.place.gpu_vendor = claimed.gpu_vendor;
}

}  // namespace

ReplicaGroup read_pod_template(const DocumentNode& pod_template, std::string_view name_space,
                               const DeviceClaims& claims) {
  const DocumentNode& pod_spec = pod_template["spec"];
  ReplicaGroup group;
  group.line = pod_template.line;
  const NodeLabels labels = demanded_labels(pod_spec);
  group.place = read_place(labels);
  const NodeSharing sharing = demanded_sharing(labels, group.place);
  kubernetes::Pod pod;
  pod.containers = read_containers(pod_spec["containers"]);
  for (const std::string_view key : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const DocumentNode& container : pod_spec[key].items) {
      group.images.push_back(container["image"].scalar);
    }
  }
  group.risks = find_pod_risks(pod_spec);
  group.isolation = read_pod_isolation(pod_spec);
  pod.init_containers = read_containers(pod_spec["initContainers"]);
  pod.requests = read_resources(pod_spec.at("resources.requests"));
  pod.overhead = read_resources(pod_spec["overhead"]);
  if (pod.containers.size() + pod.init_containers.size() > kContainersMax) {
    group.problem = fmt::format("more than {} containers in one pod", kContainersMax);
    return group;
  }
  auto request = kubernetes::pod_request(pod);
  if (!request) {
    group.problem = request.error().message;
    return group;
  }
  const ClaimedGpus by_class = take_class_requests(request->extended, claims);
  if (const std::string other = other_accelerator(request->extended); !other.empty()) {
    group.problem = fmt::format("it asks for {}, and the price list has GPUs only", other);
    return group;
  }
  group.unknown_resources = unknown_names(request->extended);
  group.cpu_milli = request->cpu_milli;
  group.memory_bytes = request->memory_bytes;
  Labels annotations;
  for (const auto& [key, value] : read_texts(pod_template.at("metadata.annotations"))) {
    if (!key.starts_with("gpu-")) continue;
    if (const auto set = annotations.set(key, value); !set) group.problem = set.error().message;
  }
  auto gpus = requested_devices(request->extended, annotations, sharing);
  if (!gpus) {
    group.problem = gpus.error().message;
    return group;
  }
  if (const auto resolved = resolve_replicas(*gpus, sharing); !resolved) {
    group.problem = resolved.error().message;
    return group;
  }
  group.gpus = std::move(*gpus);
  if (!group.gpus.empty()) group.place.gpu_vendor = requested_vendor(request->extended);
  ClaimedGpus claimed = stated_claims(pod_spec, name_space, claims);
  if (!by_class.gpus.empty() || !by_class.problem.empty()) join_claims(claimed, by_class);
  add_claims(group, claimed);
  return group;
}

Result<std::uint64_t> read_whole(const DocumentNode& node, std::string_view key,
                                 std::uint64_t absent, std::uint64_t max) {
  const DocumentNode& value = node[key];
  if (!value) return absent;
  const auto count = pennyweight::parse_count(value.scalar, max);
  if (count) return *count;
  return fail(ErrorCode::kBadValue,
              fmt::format("line {}: {}: '{}' is no whole number up to {}", value.line, key,
                          printable_text(value.scalar, 60), max));
}

std::map<std::string, std::string, std::less<>> read_texts(const DocumentNode& node) {
  std::map<std::string, std::string, std::less<>> texts;
  for (const auto& [key, value] : node.fields) {
    if (value.kind != DocumentNode::Kind::kSequence && !value.is_mapping()) {
      texts.emplace(key, value.scalar);
    }
  }
  return texts;
}

}  // namespace pennyweight::manifests
