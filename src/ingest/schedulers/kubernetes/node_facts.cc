#include "ingest/schedulers/kubernetes/node_facts.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/gpu/device_id.h"
#include "core/gpu/kubernetes_quantity.h"
#include "core/limits.h"
#include "core/whole_count.h"

namespace pennyweight::kubernetes {
namespace {

constexpr std::string_view kInstanceTypes[] = {"node.kubernetes.io/instance-type",
                                               "beta.kubernetes.io/instance-type"};
constexpr std::string_view kRegions[] = {"topology.kubernetes.io/region",
                                         "failure-domain.beta.kubernetes.io/region"};
constexpr std::string_view kPools[] = {"eks.amazonaws.com/nodegroup",
                                       "alpha.eksctl.io/nodegroup-name",
                                       "cloud.google.com/gke-nodepool",
                                       "kubernetes.azure.com/agentpool",
                                       "agentpool",
                                       "karpenter.sh/nodepool",
                                       "karpenter.sh/provisioner-name",
                                       "oci.oraclecloud.com/node.pool.name",
                                       "kai.scheduler/node-pool",
                                       "runai/node-pool"};
struct SpotLabel {
  std::string_view key;
  std::string_view value;
};
constexpr SpotLabel kSpotLabels[] = {{"karpenter.sh/capacity-type", "spot"},
                                     {"eks.amazonaws.com/capacityType", "SPOT"},
                                     {"alpha.eksctl.io/instance-lifecycle", "spot"},
                                     {"cloud.google.com/gke-spot", "true"},
                                     {"cloud.google.com/gke-preemptible", "true"},
                                     {"cloud.google.com/gke-provisioning", "spot"},
                                     {"kubernetes.azure.com/scalesetpriority", "spot"},
                                     {"oci.oraclecloud.com/oke-is-preemptible", "true"}};
// Taints by which the node life cycle, a cloud or an administrator keeps pods away. Taints such as
// nvidia.com/gpu only keep away pods without a GPU.
constexpr std::string_view kTaints[] = {
    "node.kubernetes.io/out-of-service", "node.cloudprovider.kubernetes.io/shutdown",
    "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready",
    "node.kubernetes.io/network-unavailable"};
constexpr std::string_view kCordoned = "node.kubernetes.io/unschedulable";

std::string first_label(const Texts& labels, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto at = labels.find(key);
    if (at != labels.end() && !at->second.empty()) return at->second;
  }
  return {};
}

std::optional<std::uint64_t> node_capacity(const NodeObject& node, std::string_view name,
                                           std::uint64_t units) {
  const auto at = node.capacity.find(name);
  if (at == node.capacity.end()) return std::nullopt;
  const auto count = parse_quantity(at->second, units);
  return count ? std::optional(*count) : std::nullopt;
}

const Taint* find_taint(const NodeObject& node, std::string_view key) {
  const auto at = std::ranges::find(node.taints, key, &Taint::key);
  return at == node.taints.end() ? nullptr : &*at;
}

// The strongest reason first: a node that is cordoned and dies counts as dead.
void read_use(const NodeObject& node, NodeRecord& record) {
  record.ready_changed = node.ready_changed;
  for (const std::string_view key : {kTaints[0], kTaints[1]}) {
    if (const Taint* taint = find_taint(node, key)) {
      record.out_of_use = key.substr(key.rfind('/') + 1);
      record.out_of_use_since = taint->added;
      return;
    }
  }
  if (node.is_ready && !*node.is_ready) {
    record.out_of_use = "not ready";
    record.out_of_use_since = node.ready_changed;
    return;
  }
  for (const std::string_view key : kTaints) {
    if (const Taint* taint = find_taint(node, key)) {
      record.out_of_use = key.substr(key.rfind('/') + 1);
      record.out_of_use_since = taint->added;
      return;
    }
  }
  const Taint* cordoned = find_taint(node, kCordoned);
  if (!node.is_unschedulable && cordoned == nullptr) return;
  record.out_of_use = "cordoned";
  if (cordoned != nullptr) record.out_of_use_since = cordoned->added;
}

// The input of node_sharing(): the labels of the node, and that HAMi is there.
Labels sharing_labels(const NodeObject& node) {
  Labels labels;
  for (const auto& [key, value] : node.meta.labels) {
    const bool matters = key.starts_with("nvidia.com/") || key.starts_with("amd.com/") ||
                         key.starts_with("cloud.google.com/");
    // A label that is too long, or one too many, is none of those that matter.
    if (matters && value.size() <= 256) static_cast<void>(labels.set(key, value).has_value());
  }
  if (node.meta.annotations.contains("hami.io/node-nvidia-register")) {
    static_cast<void>(labels.set("hami.io/node-nvidia-register", "").has_value());
  }
  return labels;
}

std::string without_vendor(std::string_view type) {
  constexpr std::string_view kVendor = "NVIDIA-";
  if (type.starts_with(kVendor)) type.remove_prefix(kVendor.size());
  return std::string(type);
}

Gpu gpu(const ClusterId& cluster, const NodeId& node, std::string uuid, std::uint32_t index,
        std::string model) {
  return {.cluster = cluster,
          .node = node,
          .uuid = GpuId(std::move(uuid)),
          .index = index,
          .model = std::move(model),
          .memory_bytes = {},
          .mig_instances = {},
          .from = {},
          .to = {},
          .id = {},
          .source = {}};
}

bool is_uuid(std::string_view text) {
  return text.starts_with("GPU-") && text.size() <= limits::kIdBytesMax;
}

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Of how much memory vGPUs are parts: what the driver reports, times deviceMemoryScaling.
std::optional<std::uint64_t> registered_bytes(std::uint64_t mib) {
  constexpr std::uint64_t kMibMax = std::uint64_t{1} << 32;
  return mib == 0 || mib > kMibMax ? std::nullopt : std::optional(mib << 20);
}

std::vector<Gpu> cards_of_lists(const ClusterId& cluster, const NodeId& node,
                                std::string_view text) {
  std::vector<Gpu> gpus;
  for (const std::string_view one : cut(text, ':')) {
    const std::vector<std::string_view> fields = cut(one, ',');
    if (fields.size() < 5 || !is_uuid(fields[0])) continue;
    const std::string_view type = fields.size() >= 7 ? fields[4] : fields[3];
    gpus.push_back(gpu(cluster, node, std::string(fields[0]),
                       static_cast<std::uint32_t>(gpus.size()), without_vendor(type)));
    if (const auto mib = parse_count(fields[2], ~std::uint64_t{0})) {
      gpus.back().memory_bytes = registered_bytes(*mib);
    }
    if (gpus.size() >= limits::kGpusPerNodeMax) break;
  }
  return gpus;
}

std::vector<Gpu> cards_of_json(const ClusterId& cluster, const NodeId& node,
                               std::string_view text) {
  std::vector<Gpu> gpus;
  simdjson::dom::parser parser;
  simdjson::dom::array devices;
  if (parser.parse(text.data(), text.size()).get(devices) != simdjson::SUCCESS) return gpus;
  for (const simdjson::dom::element device : devices) {
    std::string_view uuid, type;
    if (device["id"].get(uuid) != simdjson::SUCCESS || !is_uuid(uuid)) continue;
    if (device["type"].get(type) != simdjson::SUCCESS) type = {};
    std::uint64_t index = gpus.size();
    std::uint64_t stated{};
    if (device["index"].get(stated) == simdjson::SUCCESS && stated < limits::kGpusPerNodeMax) {
      index = stated;
    } else if (device["index"].error() == simdjson::NO_SUCH_FIELD) {
      index = 0;  // left out where it is 0
    }
    gpus.push_back(gpu(cluster, node, std::string(uuid), static_cast<std::uint32_t>(index),
                       without_vendor(type)));
    std::uint64_t mib{};
    if (device["devmem"].get(mib) == simdjson::SUCCESS) {
      gpus.back().memory_bytes = registered_bytes(mib);
    }
    if (gpus.size() >= limits::kGpusPerNodeMax) break;
  }
  // Before there was an index, the order stood for it.
  if (gpus.size() > 1 && std::ranges::all_of(gpus, [](const Gpu& one) { return one.index == 0; })) {
    for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i].index = static_cast<std::uint32_t>(i);
  }
  return gpus;
}

}  // namespace

std::vector<Gpu> registered_gpus(const ClusterId& cluster, const NodeId& node,
                                 std::string_view annotation) {
  std::vector<Gpu> gpus = annotation.starts_with('[') ? cards_of_json(cluster, node, annotation)
                                                      : cards_of_lists(cluster, node, annotation);
  std::ranges::sort(gpus, {}, &Gpu::uuid);
  const auto repeated = std::ranges::unique(gpus, {}, &Gpu::uuid);
  gpus.erase(repeated.begin(), repeated.end());
  return gpus;
}

NodeRecord make_record(const ClusterId& cluster, const NodeObject& node) {
  NodeRecord record;
  record.uid = node.meta.uid;
  Node& fact = record.fact;
  fact.cluster = cluster;
  fact.name = NodeId(node.meta.name);
  fact.provider_id = node.provider_id;
  fact.instance_type = first_label(node.meta.labels, kInstanceTypes);
  fact.region = first_label(node.meta.labels, kRegions);
  fact.pool = PoolId(first_label(node.meta.labels, kPools));
  fact.cpu_milli = node_capacity(node, "cpu", 1000);
  fact.memory_bytes = node_capacity(node, "memory", 1);
  fact.from = node.meta.created.value_or(kInstantMin);
  record.is_spot = std::ranges::any_of(kSpotLabels, [&](const SpotLabel& one) {
    const auto at = node.meta.labels.find(one.key);
    return at != node.meta.labels.end() && at->second == one.value;
  });

  for (const std::string_view key :
       {"hami.io/node-nvidia-register", "volcano.sh/node-vgpu-register"}) {
    const auto at = node.meta.annotations.find(key);
    if (at == node.meta.annotations.end()) continue;
    record.gpus = registered_gpus(cluster, fact.name, at->second);
    if (!record.gpus.empty()) break;
  }
  if (auto sharing = node_sharing(node.capacity, sharing_labels(node))) {
    record.sharing = *std::move(sharing);
  } else {
    record.problem = sharing.error().message;
  }
  fact.gpu_model = record.sharing.gpu_model;
  if (fact.gpu_model.empty() && !record.gpus.empty()) fact.gpu_model = record.gpus.front().model;
  const auto counted = record.sharing.physical_gpus;
  fact.gpu_count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(counted.value_or(record.gpus.size()), limits::kGpusPerNodeMax));
  if (record.sharing.mig_profile.empty() && record.sharing.replicas > 1) {
    fact.sharing = record.sharing.is_mps ? GpuSharing::kMps : GpuSharing::kTimeSlicing;
    fact.gpu_replicas = record.sharing.replicas;
    fact.replicas_renamed = record.sharing.replicas_renamed;
  }
  read_use(node, record);
  return record;
}

std::vector<Gpu> slice_gpus(const ClusterId& cluster,
                            std::span<const ResourceSlice* const> slices) {
  std::map<std::string, Gpu> by_uuid;
  const auto index_of = [](const SliceDevice& device) {
    const auto name = parse_dra_device(device.name);
    const std::uint64_t index = device.minor.value_or(name ? name->card : 0);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(index, limits::kGpusPerNodeMax));
  };
  for (const ResourceSlice* slice : slices) {
    for (const SliceDevice& device : slice->devices) {
      const bool is_mig = !device.parent_uuid.empty();
      const std::string& uuid = is_mig ? device.parent_uuid : device.uuid;
      if (!is_uuid(uuid)) continue;
      const auto [at, is_new] = by_uuid.try_emplace(
          uuid, gpu(cluster, NodeId(slice->node), uuid, index_of(device), device.product));
      if (!is_mig) {
        at->second.index = index_of(device);
        at->second.model = device.product;
        at->second.memory_bytes = device.memory_bytes;
      } else if (!device.uuid.empty() && !device.profile.empty()) {
        at->second.mig_instances.push_back({.id = GpuId(device.uuid), .profile = device.profile});
      }
    }
  }
  std::vector<Gpu> gpus;
  for (auto& [uuid, gpu] : by_uuid) {
    std::ranges::sort(gpu.mig_instances, {}, &MigInstance::id);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace pennyweight::kubernetes
