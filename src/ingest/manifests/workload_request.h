// WorkloadRequest: what a manifest, a job script or a plan asks for, before anything runs.
//
// Every reader of this module gives these, so that what prices them (insight/guardrails) knows no
// format. A value that the text does not state is absent; nothing is guessed here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu/resource_name.h"
#include "ingest/manifests/cluster_objects.h"
#include "ingest/manifests/pod_isolation.h"
#include "ingest/manifests/pod_security.h"

namespace pennyweight::manifests {

// Above these a request is refused as a mistake, so that products of them stay within 64 bits.
inline constexpr std::uint64_t kReplicasMax = 1'000'000;
// The annotation in which a Kubernetes object carries the token of its approval.
inline constexpr std::string_view kApprovalAnnotation = "pennyweight.io/approval";
inline constexpr std::uint64_t kRunMsMax = 8'640'000'000'000;  // 100,000 days

// So many whole GPUs of any model.
inline RequestedDevice whole_gpus(std::uint64_t count) {
  RequestedDevice device;
  device.count = count;
  return device;
}

// How long a workload goes on.
enum class Lifetime {
  kService,    // until somebody removes it
  kRun,        // ends by itself
  kScheduled,  // a run that begins again by its schedule
};

// Where one of its replicas may run, as it is stated; empty: not stated.
struct RequestedPlace {
  std::string provider;       // "gcp", where a label is of its nodes only
  std::string gpu_model;      // as written: "nvidia-h100-80gb", "a100"
  std::string gpu_vendor;     // "AMD", where the name of the resource says it
  std::string instance_type;  // "p5.48xlarge"
  std::string region;
  bool is_spot = false;
  bool operator==(const RequestedPlace&) const = default;
};

// Replicas that ask for the same: a Deployment's pods, the workers of a PyTorchJob, the tasks of a
// Slurm job on one of its nodes.
struct ReplicaGroup {
  std::string name;  // "worker"; empty where the workload has one group only
  int line = 1;
  std::uint64_t replicas = 1;                                // at once
  std::optional<std::uint64_t> replicas_max = std::nullopt;  // an autoscaler's limit
  // Of one replica:
  std::uint64_t cpu_milli = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<RequestedDevice> gpus = {};
  RequestedPlace place = {};
  bool takes_whole_machines = false;  // --exclusive, a virtual machine
  bool may_span_machines = false;     // --gpus=16 without a number of nodes
  // The time that its replicas hold in one run, added up and at most. Absent: no limit is stated.
  std::optional<std::uint64_t> replica_ms_max = std::nullopt;
  std::vector<std::string> images = {};                  // of its containers, in their order
  std::vector<PodRisk> risks = {};                       // of pods
  std::optional<PodIsolation> isolation = std::nullopt;  // of pods
  // Extended resources of which nothing says whether they are GPUs: "example.com/fast".
  std::vector<std::string> unknown_resources = {};
  // Why its GPUs can't be read; it is then not priced.
  std::string problem = {};
  // Of its pods, by which the ledger charges them; absent: those of the workload.
  std::optional<std::map<std::string, std::string, std::less<>>> pod_labels = std::nullopt;
  bool operator==(const ReplicaGroup&) const = default;
};

// A component of an AppWrapper: what it is called, and which groups of the whole are its own.
struct WorkloadPart {
  std::string kind;
  std::string api_group = {};
  std::string name_space;
  std::string name;
  std::map<std::string, std::string, std::less<>> labels = {};  // the whole's where it has none
  std::map<std::string, std::string, std::less<>> annotations = {};  // as labels
  Lifetime lifetime = Lifetime::kService;
  std::string schedule = {};             // of a kScheduled one
  std::vector<std::size_t> groups = {};  // indices of the whole's
  bool operator==(const WorkloadPart&) const = default;
};

struct WorkloadRequest {
  std::string file;
  int line = 1;
  std::string kind;            // "Deployment", "Slurm job", "aws_instance"
  std::string api_group = {};  // of Kubernetes: "batch"; empty for others and for its core
  std::string name_space;      // may be empty
  std::string name;
  std::map<std::string, std::string, std::less<>> labels = {};
  std::map<std::string, std::string, std::less<>> annotations = {};
  Lifetime lifetime = Lifetime::kService;
  std::string schedule = {};  // of a kScheduled one: "0 3 * * *"
  std::vector<ReplicaGroup> groups = {};
  std::vector<WorkloadPart> parts = {};  // of an AppWrapper
  // The claims of their own that it uses, "namespace/name", whose GPUs are priced with the claim.
  std::vector<std::string> shared_claims = {};
  std::vector<std::string> notes = {};
  std::string approval = {};  // the token of an approval that its annotation carries
  std::string user = {};      // who submits a job, as Slurm says; empty: not known
  bool operator==(const WorkloadRequest&) const = default;

  // Places it, its components and the claims that it uses in a namespace.
  void move_to_namespace(const std::string& other);
};

// Something that is in a file and not in the price, and why.
struct UnpricedObject {
  std::string file;
  int line = 1;
  std::string kind;
  std::string name;
  std::string reason;
  bool runs_nothing = false;  // so that rules on workloads have nothing to judge
  bool operator==(const UnpricedObject&) const = default;
};

struct ManifestReading {
  std::vector<WorkloadRequest> workloads = {};
  std::vector<UnpricedObject> unpriced = {};
  // Objects that hold no machine: ConfigMaps, Services, roles, …
  std::uint64_t without_cost = 0;
  ClusterObjects cluster = {};  // what of these is among the objects
};

}  // namespace pennyweight::manifests
