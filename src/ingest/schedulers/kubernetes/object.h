// Objects of the Kubernetes API, reduced to what shows who held which GPU, when and why.
//
// Plain values, filled from JSON (object_json.h) or from the series of kube-state-metrics
// (state_metrics.h). Other fields are left out. Quantities stay as the API writes them
// (core/gpu/kubernetes_quantity.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/gpu/node_sharing.h"
#include "core/instant.h"

namespace pennyweight::kubernetes {

using Texts = std::map<std::string, std::string, std::less<>>;

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool is_controller = false;
  bool operator==(const OwnerReference&) const = default;
};

struct Meta {
  std::string api_version;  // "v1", "batch/v1", "batch.volcano.sh/v1alpha1"
  std::string kind;         // "Pod"
  std::string name;
  std::string name_space;  // empty for what has none
  std::string uid;
  Texts labels;
  Texts annotations;  // those that can matter, see object_json.h
  std::vector<OwnerReference> owners;
  std::optional<Instant> created;
  std::optional<Instant> deletion;  // deletionTimestamp: when a requested deletion is due
  bool operator==(const Meta&) const = default;
};

struct Container {
  std::string name;
  std::string image;
  KubernetesResources requests;
  KubernetesResources limits;
  bool is_sidecar = false;  // an init container with restartPolicy: Always
  bool operator==(const Container&) const = default;
};

// A claim that a pod names, by the name of the ResourceClaim itself.
struct PodClaim {
  std::string name;   // in the pod
  std::string claim;  // empty: the claim does not exist yet
  bool operator==(const PodClaim&) const = default;
};

// A container that the kernel killed since it used more memory than its limit: "OOMKilled".
struct KilledContainer {
  std::string name;
  std::optional<Instant> at;  // nothing: not stated
  bool operator==(const KilledContainer&) const = default;
};

struct Pod {
  Meta meta;
  std::string node;  // empty: not scheduled
  std::string service_account;
  std::string priority_class;
  std::string phase;  // "Pending", "Running", "Succeeded", "Failed", "Unknown"
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  KubernetesResources requests;  // of the pod as a whole (spec.resources); empty: not stated
  KubernetesResources overhead;
  std::vector<PodClaim> claims;
  std::optional<Instant> scheduled;     // condition PodScheduled is true since
  std::optional<Instant> started;       // status.startTime
  std::optional<Instant> changed;       // the last transition of any condition
  std::optional<Instant> terminated;    // when the last of its containers terminated
  std::vector<KilledContainer> killed;  // those whose last end was "OOMKilled"
  bool operator==(const Pod&) const = default;
};

struct Taint {
  std::string key;
  std::string effect;
  std::optional<Instant> added;
  bool operator==(const Taint&) const = default;
};

struct NodeObject {
  Meta meta;
  std::string provider_id;
  bool is_unschedulable = false;
  std::vector<Taint> taints;
  KubernetesResources capacity;
  std::optional<bool> is_ready;  // nothing: it has no condition Ready. "Unknown" is not ready
  std::optional<Instant> ready_changed;
  bool operator==(const NodeObject&) const = default;
};

struct Namespace {
  Meta meta;
  bool operator==(const Namespace&) const = default;
};

// One device that was given to a claim: status.allocation.devices.results[].
struct ClaimedDevice {
  std::string driver;                         // "gpu.nvidia.com"
  std::string pool;                           // of NVIDIA's driver: the node's name
  std::string device;                         // "gpu-0", "gpu-0-mig-1g5gb-19-0"
  bool is_admin_access = false;               // observed, not held
  std::optional<std::uint64_t> memory_bytes;  // consumedCapacity.memory: a part of the device
  bool operator==(const ClaimedDevice&) const = default;
};

struct ResourceClaim {
  Meta meta;
  std::vector<ClaimedDevice> devices;  // empty: not allocated
  bool operator==(const ResourceClaim&) const = default;
};

// A device that a driver offers, of a ResourceSlice.
struct SliceDevice {
  std::string name;
  std::string type;         // "gpu", "mig", "vfio"
  std::string uuid;         // may be empty: a partition that does not exist yet
  std::string parent_uuid;  // of a MIG device
  std::string profile;      // of a MIG device
  std::string product;      // "NVIDIA A100-SXM4-40GB"
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> minor;
  bool operator==(const SliceDevice&) const = default;
};

struct ResourceSlice {
  Meta meta;
  std::string driver;
  std::string pool;
  std::string node;
  std::vector<SliceDevice> devices;
  bool operator==(const ResourceSlice&) const = default;
};

// Any other owner of pods, or of their owners: Job, ReplicaSet, JobSet, Workload, PyTorchJob,
// RayCluster, Workflow, InferenceService … Only its name and its labels matter.
struct Workload {
  Meta meta;
  bool operator==(const Workload&) const = default;
};

using Object = std::variant<Pod, NodeObject, Namespace, ResourceClaim, ResourceSlice, Workload>;

// The kinds of objects that a ClusterState distinguishes.
enum class ObjectKind { kPod, kNode, kNamespace, kResourceClaim, kResourceSlice, kWorkload };

inline ObjectKind object_kind(const Object& object) {
  return static_cast<ObjectKind>(object.index());
}
inline const Meta& object_meta(const Object& object) {
  return std::visit([](const auto& one) -> const Meta& { return one.meta; }, object);
}

}  // namespace pennyweight::kubernetes
