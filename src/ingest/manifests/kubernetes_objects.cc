#include "ingest/manifests/kubernetes_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/manifests/pod_template.h"

namespace pennyweight::manifests {
namespace {

// A key of a spec whose template is a pod, and the lists of such groups.
struct ReplicaSpecKey {
  std::string_view kind;
  std::string_view key;
};
constexpr ReplicaSpecKey kKubeflowKinds[] = {{"PyTorchJob", "pytorchReplicaSpecs"},
                                             {"TFJob", "tfReplicaSpecs"},
                                             {"MPIJob", "mpiReplicaSpecs"},
                                             {"XGBoostJob", "xgbReplicaSpecs"},
                                             {"PaddleJob", "paddleReplicaSpecs"},
                                             {"JAXJob", "jaxReplicaSpecs"},
                                             {"MXJob", "mxReplicaSpecs"}};

// Kinds that start nothing.
constexpr std::string_view kWithoutCost[] = {"APIService",
                                             "Certificate",
                                             "CertificateRequest",
                                             "ClusterIssuer",
                                             "ClusterQueue",
                                             "ClusterRole",
                                             "ClusterRoleBinding",
                                             "ClusterTrainingRuntime",
                                             "Cohort",
                                             "ConfigMap",
                                             "CustomResourceDefinition",
                                             "DeviceClass",
                                             "Endpoints",
                                             "EndpointSlice",
                                             "ExternalSecret",
                                             "Gateway",
                                             "GatewayClass",
                                             "HTTPRoute",
                                             "GRPCRoute",
                                             "Ingress",
                                             "IngressClass",
                                             "Issuer",
                                             "Kustomization",
                                             "LimitRange",
                                             "LocalQueue",
                                             "MutatingWebhookConfiguration",
                                             "Namespace",
                                             "NetworkPolicy",
                                             "PodDisruptionBudget",
                                             "PodMonitor",
                                             "PriorityClass",
                                             "PrometheusRule",
                                             "Queue",
                                             "ResourceFlavor",
                                             "ResourceQuota",
                                             "Role",
                                             "RoleBinding",
                                             "RuntimeClass",
                                             "Secret",
                                             "ServiceAccount",
                                             "ServiceMonitor",
                                             "StorageClass",
                                             "Topology",
                                             "TrainingRuntime",
                                             "ValidatingAdmissionPolicy",
                                             "ValidatingAdmissionPolicyBinding",
                                             "ValidatingWebhookConfiguration",
                                             "WorkloadPriorityClass",
                                             "AdmissionCheck",
                                             "ServingRuntime",
                                             "ClusterServingRuntime",
                                             "InferencePool",
                                             "InferenceModel",
                                             "ProvisioningRequestConfig"};

std::string api_group(const DocumentNode& object) {
  const std::string& version = object["apiVersion"].scalar;
  const std::size_t slash = version.find('/');
  return slash == std::string::npos ? "" : version.substr(0, slash);
}

bool is_without_cost(std::string_view kind) {
  return std::ranges::find(kWithoutCost, kind) != std::end(kWithoutCost);
}

std::string scoped_name(const DocumentNode& object, std::string_view name) {
  return fmt::format("{}/{}", object.at("metadata.namespace").scalar, name);
}

// The first GPU resource that the object asks for anywhere.
const DocumentNode::Field* find_gpu_resource(const DocumentNode& node) {
  for (const DocumentNode::Field& field : node.fields) {
    const bool is_resource =
        field.key.find('/') != std::string::npos && (field.key.find("/gpu") != std::string::npos ||
                                                     field.key.find("/mig-") != std::string::npos);
    if (is_resource && field.value.kind == DocumentNode::Kind::kScalar) return &field;
    if (const auto* found = find_gpu_resource(field.value)) return found;
  }
  for (const DocumentNode& item : node.items) {
    if (const auto* found = find_gpu_resource(item)) return found;
  }
  return nullptr;
}

// Objects of the files that others take pods from: ServingRuntimes and TrainingRuntimes.
using RuntimesByName = std::map<std::string, const DocumentNode*, std::less<>>;

std::string runtime_key(std::string_view kind, std::string_view name_space, std::string_view name) {
  const bool is_of_cluster = kind.starts_with("Cluster");
  return fmt::format("{} {}/{}", kind, is_of_cluster ? "" : name_space, name);
}

bool is_runtime_kind(std::string_view kind) {
  return kind.ends_with("ServingRuntime") || kind.ends_with("TrainingRuntime");
}

DocumentNode mapping_node(int line) {
  DocumentNode node;
  node.kind = DocumentNode::Kind::kMapping;
  node.line = line;
  return node;
}

// A pod template of this spec.
DocumentNode template_of(DocumentNode pod_spec) {
  DocumentNode pod_template = mapping_node(pod_spec.line);
  pod_template.fields.emplace_back("spec", std::move(pod_spec));
  return pod_template;
}

DocumentNode& field_of(DocumentNode& node, std::string_view key) {
  node.kind = DocumentNode::Kind::kMapping;
  const auto at = std::ranges::find(node.fields, key, &DocumentNode::Field::key);
  if (at != node.fields.end()) return at->value;
  return node.fields.emplace_back(std::string(key), DocumentNode()).value;
}

// Puts the values of `over` into `under`, key by key; lists are replaced.
void overlay(DocumentNode& under, const DocumentNode& over) {
  if (!under.is_mapping() || !over.is_mapping()) {
    if (over) under = over;
    return;
  }
  for (const auto& [key, value] : over.fields) overlay(field_of(under, key), value);
}

// What one object becomes. `problem` is an Error about the object as a whole.
class ObjectReader {
 public:
  ObjectReader(const DocumentNode& object, const DeviceClaims& claims,
               const RuntimesByName& runtimes)
      : object_(object),
        spec_(object["spec"]),
        kind_(object["kind"].scalar),
        group_(api_group(object)),
        name_space_(object.at("metadata.namespace").scalar),
        claims_(claims),
        runtimes_(runtimes) {}

  // Nothing for a kind that is not known.
  Result<std::optional<WorkloadRequest>> read() {
    workload_.kind = kind_;
    workload_.api_group = group_;
    workload_.name_space = name_space_;
    workload_.name = object_.at("metadata.name").scalar;
    if (workload_.name.empty()) workload_.name = object_.at("metadata.generateName").scalar;
    workload_.line = object_.line;
    workload_.labels = read_texts(object_.at("metadata.labels"));
    workload_.annotations = read_texts(object_.at("metadata.annotations"));
    workload_.approval = object_.at("metadata.annotations")[kApprovalAnnotation].scalar;
    const bool is_known = TRY(read_kind());
    if (!is_known) return std::nullopt;
    if (spec_["suspend"].scalar == "true") {
      workload_.notes.emplace_back("it is suspended; the price is what it costs once it runs");
    }
    return std::move(workload_);
  }

 private:
  Result<bool> read_kind() {
    if (kind_ == "Pod") return read_pod();
    if (kind_ == "Deployment" || kind_ == "StatefulSet" || kind_ == "ReplicaSet" ||
        kind_ == "ReplicationController" || kind_ == "Rollout") {
      const auto replicas = TRY(read_whole(spec_, "replicas", 1, kReplicasMax));
      ReplicaGroup& group = add("", spec_["template"], replicas);
      if (kind_ == "Rollout" && spec_.has("workloadRef")) {
        group.problem = "its pods are those of the object that workloadRef names";
      }
      add_volumes(read_claim_templates(spec_["volumeClaimTemplates"]), group);
      return true;
    }
    if (kind_ == "Job" && group_ == "batch") return read_job(spec_);
    if (kind_ == "Job" && group_ == "batch.volcano.sh") return read_volcano(spec_);
    if (kind_ == "CronJob" && group_ == "batch") return read_cron();
    if (kind_ == "CronJob" && group_ == "batch.volcano.sh") {
      const bool is_read = TRY(read_volcano(spec_.at("jobTemplate.spec")));
      workload_.lifetime = Lifetime::kScheduled;
      workload_.schedule = spec_["schedule"].scalar;
      return is_read;
    }
    if (kind_ == "JobSet") return read_job_set();
    if (kind_ == "LeaderWorkerSet") return read_leader_worker_set();
    if (kind_ == "RayCluster") return read_ray(spec_);
    if (kind_ == "RayService") return read_ray(spec_["rayClusterConfig"]);
    if (kind_ == "RayJob") {
      workload_.lifetime = Lifetime::kRun;
      if (!spec_.has("rayClusterSpec")) {
        add("cluster", DocumentNode(), 1).problem =
            "it runs on the Ray cluster that its clusterSelector names, which is priced where it "
            "is made";
        return true;
      }
      const bool is_read = TRY(read_ray(spec_["rayClusterSpec"]));
      TRY(limit_run(spec_, 1000));
      return is_read;
    }
    if (kind_ == "InferenceService") return read_inference_service();
    if (kind_ == "LLMInferenceService") return read_llm_service();
    if (kind_ == "NIMService" && group_ == "apps.nvidia.com") return read_nim_service();
    if (kind_ == "Notebook" && group_ == "kubeflow.org") {
      add("", spec_["template"], 1);
      return true;
    }
    if (kind_ == "TrainJob") return read_train_job();
    if (kind_ == "AppWrapper") return read_app_wrapper();
    if (kind_ == "Workload" && group_ == "kueue.x-k8s.io") return read_kueue_workload();
    if (kind_ == "Service" && group_ == "serving.knative.dev") return read_knative();
    for (const ReplicaSpecKey& kubeflow : kKubeflowKinds) {
      if (kind_ == kubeflow.kind) return read_kubeflow(spec_[kubeflow.key]);
    }
    return false;
  }

  ReplicaGroup& add(std::string_view name, const DocumentNode& pod_template,
                    std::uint64_t replicas) {
    ReplicaGroup group = read_pod_template(pod_template, name_space_, claims_);
    group.name = name;
    group.replicas = replicas;
    auto labels = read_texts(pod_template.at("metadata.labels"));
    for (const auto& [key, value] : labels) workload_.labels.emplace(key, value);
    // These give their pods the labels of the object.
    const bool has_templates = kind_ != "InferenceService" && kind_ != "TrainJob" &&
                               kind_ != "LLMInferenceService" && kind_ != "NIMService";
    if (has_templates) group.pod_labels = std::move(labels);
    group.isolation->is_partial = !has_templates;
    for (const auto& [key, value] : read_texts(pod_template.at("metadata.annotations"))) {
      workload_.annotations.emplace(key, value);
    }
    workload_.groups.push_back(std::move(group));
    return workload_.groups.back();
  }

  static void add_volumes(const std::vector<PodVolume>& volumes, ReplicaGroup& group) {
    auto& own = group.isolation->volumes;
    own.insert(own.end(), volumes.begin(), volumes.end());
  }

  // The deadline of a run, in units of `unit_ms`, for all groups so far that have none.
  Result<void> limit_run(const DocumentNode& node, std::uint64_t unit_ms) {
    const auto seconds = TRY(read_whole(node, "activeDeadlineSeconds", 0, kRunMsMax / unit_ms));
    if (seconds == 0) return {};
    for (ReplicaGroup& group : workload_.groups) {
      if (!group.replica_ms_max) group.replica_ms_max = seconds * unit_ms * group.replicas;
    }
    return {};
  }

  Result<bool> read_pod() {
    add("", object_, 1);
    const std::string& restart = spec_["restartPolicy"].scalar;
    if (restart == "Never" || restart == "OnFailure" || spec_.has("activeDeadlineSeconds")) {
      workload_.lifetime = Lifetime::kRun;
    }
    TRY(limit_run(spec_, 1000));
    return true;
  }

  // Adds the group of a Job's spec, `copies` times.
  Result<void> add_job(std::string_view name, const DocumentNode& job, std::uint64_t copies) {
    const auto parallelism = TRY(read_whole(job, "parallelism", 1, kReplicasMax));
    const auto completions = TRY(read_whole(job, "completions", parallelism, kReplicasMax));
    const std::uint64_t at_once = std::min(parallelism, completions);
    if (copies > 0 && std::max(at_once, completions) > kReplicasMax / copies) {
      return fail(ErrorCode::kLimit,
                  fmt::format("line {}: more than {} pods", job.line, kReplicasMax));
    }
    ReplicaGroup& group = add(name, job["template"], at_once * copies);
    // The Job's deadline bounds all of its pods together, a pod's deadline each of them.
    const auto job_seconds = TRY(read_whole(job, "activeDeadlineSeconds", 0, kRunMsMax / 1000));
    const auto pod_seconds =
        TRY(read_whole(job.at("template.spec"), "activeDeadlineSeconds", 0, kRunMsMax / 1000));
    if (job_seconds > 0) group.replica_ms_max = job_seconds * 1000 * group.replicas;
    if (pod_seconds > 0) {
      const std::uint64_t pods_ms = pod_seconds * 1000 * completions * copies;
      group.replica_ms_max = std::min(group.replica_ms_max.value_or(pods_ms), pods_ms);
    }
    return {};
  }

  Result<bool> read_job(const DocumentNode& job) {
    workload_.lifetime = Lifetime::kRun;
    TRY(add_job("", job, 1));
    return true;
  }

  Result<bool> read_cron() {
    workload_.lifetime = Lifetime::kScheduled;
    workload_.schedule = spec_["schedule"].scalar;
    TRY(add_job("", spec_.at("jobTemplate.spec"), 1));
    return true;
  }

  Result<bool> read_job_set() {
    workload_.lifetime = Lifetime::kRun;
    for (const DocumentNode& job : spec_["replicatedJobs"].items) {
      const auto copies = TRY(read_whole(job, "replicas", 1, kReplicasMax));
      TRY(add_job(job["name"].scalar, job.at("template.spec"), copies));
    }
    return true;
  }

  Result<bool> read_volcano(const DocumentNode& job) {
    workload_.lifetime = Lifetime::kRun;
    // Volumes of the Job, which all of its pods mount.
    std::vector<PodVolume> volumes;
    for (const DocumentNode& volume : job["volumes"].items) {
      const std::string& claim = volume["volumeClaimName"].scalar;
      volumes.push_back({.name = claim.empty() ? volume["mountPath"].scalar : claim,
                         .claim = volume.has("volumeClaim") ? std::string() : claim,
                         .storage_class = volume.at("volumeClaim.storageClassName").scalar});
    }
    for (const DocumentNode& task : job["tasks"].items) {
      const auto replicas = TRY(read_whole(task, "replicas", 1, kReplicasMax));
      add_volumes(volumes, add(task["name"].scalar, task["template"], replicas));
    }
    return true;
  }

  Result<bool> read_leader_worker_set() {
    const DocumentNode& pair = spec_["leaderWorkerTemplate"];
    const auto groups = TRY(read_whole(spec_, "replicas", 1, kReplicasMax));
    const auto size = TRY(read_whole(pair, "size", 1, kReplicasMax));
    if (size > 0 && groups > kReplicasMax / size) {
      return fail(ErrorCode::kLimit,
                  fmt::format("line {}: more than {} pods", spec_.line, kReplicasMax));
    }
    const DocumentNode& worker = pair["workerTemplate"];
    const std::vector<PodVolume> volumes = read_claim_templates(pair["volumeClaimTemplates"]);
    // Without a template of its own the leader is a worker.
    if (!pair.has("leaderTemplate")) {
      add_volumes(volumes, add("", worker, groups * size));
      return true;
    }
    add_volumes(volumes, add("leader", pair["leaderTemplate"], groups));
    if (size > 1) add_volumes(volumes, add("worker", worker, groups * (size - 1)));
    return true;
  }

  Result<bool> read_kubeflow(const DocumentNode& replica_specs) {
    workload_.lifetime = Lifetime::kRun;
    const auto elastic_max =
        TRY(read_whole(spec_["elasticPolicy"], "maxReplicas", 0, kReplicasMax));
    for (const auto& [role, replica_spec] : replica_specs.fields) {
      const auto replicas = TRY(read_whole(replica_spec, "replicas", 1, kReplicasMax));
      ReplicaGroup& group = add(role, replica_spec["template"], replicas);
      if (role == "Worker" && elastic_max > replicas) group.replicas_max = elastic_max;
    }
    // Older versions have the deadline at the top of the spec.
    TRY(limit_run(spec_["runPolicy"], 1000));
    TRY(limit_run(spec_, 1000));
    return true;
  }

  // The container that KubeRay puts beside the head, with its own resources where none are stated.
  static void add_ray_autoscaler(const DocumentNode& options, DocumentNode& head) {
    DocumentNode container = mapping_node(head.line);
    if (options.has("resources")) {
      field_of(container, "resources") = options["resources"];
    } else {
      for (const auto& [resource, amount] :
           {std::pair("cpu", "500m"), std::pair("memory", "512Mi")}) {
        DocumentNode& value =
            field_of(field_of(field_of(container, "resources"), "limits"), resource);
        value.kind = DocumentNode::Kind::kScalar;
        value.scalar = amount;
      }
    }
    DocumentNode& containers = field_of(field_of(head, "spec"), "containers");
    containers.kind = DocumentNode::Kind::kSequence;
    containers.items.push_back(std::move(container));
  }

  Result<bool> read_ray(const DocumentNode& cluster) {
    const bool autoscales = cluster["enableInTreeAutoscaling"].scalar == "true";
    DocumentNode head = cluster.at("headGroupSpec.template");
    if (autoscales) add_ray_autoscaler(cluster["autoscalerOptions"], head);
    add("head", head, 1);
    for (const DocumentNode& worker : cluster["workerGroupSpecs"].items) {
      if (worker["suspend"].scalar == "true") {
        workload_.notes.push_back(
            fmt::format("its workers '{}' are suspended, and not in the price",
                        printable_text(worker["groupName"].scalar, 120)));
        continue;
      }
      const auto least = TRY(read_whole(worker, "minReplicas", 0, kReplicasMax));
      const auto replicas = TRY(read_whole(worker, "replicas", least, kReplicasMax));
      const auto most = TRY(read_whole(worker, "maxReplicas", replicas, 2'147'483'647));
      const auto hosts = TRY(read_whole(worker, "numOfHosts", 1, 10'000));
      if (std::max(replicas, autoscales ? most : 0) >
          kReplicasMax / std::max<std::uint64_t>(hosts, 1)) {
        // KubeRay's default for maxReplicas is 2^31 - 1, no limit at all.
        if (replicas > kReplicasMax / std::max<std::uint64_t>(hosts, 1)) {
          return fail(ErrorCode::kLimit,
                      fmt::format("line {}: more than {} pods", worker.line, kReplicasMax));
        }
        add(worker["groupName"].scalar, worker["template"], replicas * hosts);
        workload_.notes.emplace_back("its autoscaler has no limit that could be priced");
        continue;
      }
      ReplicaGroup& group = add(worker["groupName"].scalar, worker["template"], replicas * hosts);
      if (autoscales && most > replicas) group.replicas_max = most * hosts;
    }
    return true;
  }

  // The runtime that a component names, or null: it names none, or none of the files is it.
  const DocumentNode* find_runtime(std::initializer_list<std::string_view> kinds,
                                   std::string_view name) const {
    if (name.empty()) return nullptr;
    for (const std::string_view kind : kinds) {
      const auto at = runtimes_.find(runtime_key(kind, name_space_, name));
      if (at != runtimes_.end()) return at->second;
    }
    return nullptr;
  }

  // A component of an InferenceService: its spec is a pod's, and `model` or the name of a framework
  // holds the container that KServe lays over that of the serving runtime.
  Result<void> add_component(std::string_view name, const DocumentNode& component) {
    static constexpr std::string_view kFrameworks[] = {
        "model", "sklearn",     "xgboost", "tensorflow", "pytorch", "triton",
        "onnx",  "huggingface", "pmml",    "lightgbm",   "paddle"};
    DocumentNode pod_spec = component;
    std::string runtime_name;
    bool lacks_resources = false;
    for (const std::string_view framework : kFrameworks) {
      if (!component.has(framework)) continue;
      const DocumentNode& model = component[framework];
      runtime_name = model["runtime"].scalar;
      const DocumentNode* const runtime =
          find_runtime({"ServingRuntime", "ClusterServingRuntime"}, runtime_name);
      if (runtime != nullptr) {
        lay_over_runtime(*runtime, model, pod_spec);
        continue;
      }
      lacks_resources = lacks_resources || !model.has("resources");
      DocumentNode& containers = field_of(pod_spec, "containers");
      containers.kind = DocumentNode::Kind::kSequence;
      containers.items.push_back(model);
    }
    DocumentNode meta = mapping_node(component.line);
    meta.fields.emplace_back("annotations", object_.at("metadata.annotations"));
    DocumentNode pod_template = template_of(std::move(pod_spec));
    pod_template.line = component.line;
    pod_template.fields.emplace_back("metadata", std::move(meta));
    const auto least = TRY(read_whole(component, "minReplicas", 1, kReplicasMax));
    const auto most = TRY(read_whole(component, "maxReplicas", least, kReplicasMax));
    ReplicaGroup& group = add(name, pod_template, least);
    if (most > least) group.replicas_max = most;
    if (lacks_resources && !runtime_name.empty()) {
      group.problem = fmt::format(
          "it states no resources, and its serving runtime '{}' is in none of the files",
          printable_text(runtime_name, 120));
    }
    if (component.has("workerSpec")) {
      const DocumentNode& workers = component["workerSpec"];
      const auto pipeline = TRY(read_whole(workers, "pipelineParallelSize", 2, 10'000));
      const std::uint64_t more = pipeline > 0 ? pipeline - 1 : 0;
      if (more > 0 && std::max(least, most) > kReplicasMax / more) {
        return fail(ErrorCode::kLimit,
                    fmt::format("line {}: more than {} pods", workers.line, kReplicasMax));
      }
      ReplicaGroup& worker =
          add(fmt::format("{} worker", name), template_of(workers), least * more);
      if (most > least) worker.replicas_max = most * more;
    }
    return {};
  }

  // The containers of a serving runtime, the first or `kserve-container` of which the model
  // changes, and where its pods run.
  static void lay_over_runtime(const DocumentNode& runtime, const DocumentNode& model,
                               DocumentNode& pod_spec) {
    DocumentNode containers = runtime["containers"];
    auto own = std::ranges::find_if(containers.items, [](const DocumentNode& container) {
      return container["name"].scalar == "kserve-container";
    });
    if (own == containers.items.end()) own = containers.items.begin();
    if (own == containers.items.end()) {
      containers.kind = DocumentNode::Kind::kSequence;
      containers.items.push_back(model);
    } else {
      for (const std::string_view key : {"resources", "image", "env"}) {
        if (model.has(key)) overlay(field_of(*own, key), model[key]);
      }
    }
    DocumentNode& all = field_of(pod_spec, "containers");
    all.kind = DocumentNode::Kind::kSequence;
    all.items.insert(all.items.end(), containers.items.begin(), containers.items.end());
    for (const std::string_view key : {"nodeSelector", "affinity", "volumes"}) {
      if (runtime.has(key) && !pod_spec.has(key)) field_of(pod_spec, key) = runtime[key];
    }
  }

  // One pool of an LLMInferenceService: that of the whole, or of prefill. With workers, each
  // replica is a leader and as many workers as its parallelism leaves.
  Result<void> add_llm_pool(std::string_view name, const DocumentNode& pool) {
    const auto replicas = TRY(read_whole(pool, "replicas", 1, kReplicasMax));
    ReplicaGroup& leader = add(name, template_of(pool["template"]), replicas);
    if (!pool.has("template")) {
      leader.problem =
          "its pods are those of a configuration (baseRefs) that is not read; state its template";
    }
    if (!pool.has("worker")) return {};
    const DocumentNode& parallelism = pool["parallelism"];
    const auto data = TRY(read_whole(parallelism, "data", 0, 100'000));
    const auto local = TRY(read_whole(parallelism, "dataLocal", 1, 100'000));
    const auto pipeline = TRY(read_whole(parallelism, "pipeline", 1, 100'000));
    const std::uint64_t size = data > 0 ? data / std::max<std::uint64_t>(local, 1) : pipeline;
    const std::uint64_t more = size > 0 ? size - 1 : 0;
    if (more > 0 && replicas > kReplicasMax / more) {
      return fail(ErrorCode::kLimit,
                  fmt::format("line {}: more than {} pods", pool.line, kReplicasMax));
    }
    const std::string worker = name.empty() ? "worker" : fmt::format("{} worker", name);
    add(worker, template_of(pool["worker"]), replicas * more);
    return {};
  }

  Result<bool> read_llm_service() {
    const bool has_prefill = spec_.has("prefill");
    TRY(add_llm_pool(has_prefill ? "decode" : "", spec_));
    if (has_prefill) TRY(add_llm_pool("prefill", spec_["prefill"]));
    if (spec_.has("router")) {
      workload_.notes.emplace_back("its router is not in the price; nothing says what it takes");
    }
    return true;
  }

  // NVIDIA's NIM operator.
  Result<bool> read_nim_service() {
    DocumentNode container = mapping_node(spec_.line);
    container.fields.emplace_back("resources", spec_["resources"]);
    DocumentNode pod_spec = mapping_node(spec_.line);
    DocumentNode& containers = field_of(pod_spec, "containers");
    containers.kind = DocumentNode::Kind::kSequence;
    containers.items.push_back(std::move(container));
    for (const std::string_view key : {"nodeSelector", "affinity"}) {
      if (spec_.has(key)) field_of(pod_spec, key) = spec_[key];
    }
    const auto replicas = TRY(read_whole(spec_, "replicas", 1, kReplicasMax));
    const auto nodes = TRY(read_whole(spec_["multiNode"], "size", 1, 10'000));
    if (nodes > 0 && replicas > kReplicasMax / nodes) {
      return fail(ErrorCode::kLimit,
                  fmt::format("line {}: more than {} pods", spec_.line, kReplicasMax));
    }
    ReplicaGroup& group = add("", template_of(std::move(pod_spec)), replicas * nodes);
    if (spec_.at("scale.enabled").scalar == "true") {
      const auto most = TRY(read_whole(spec_.at("scale.hpa"), "maxReplicas", replicas,
                                       kReplicasMax / std::max<std::uint64_t>(nodes, 1)));
      if (most > replicas) group.replicas_max = most * nodes;
    }
    if (!spec_.has("resources") || spec_.has("draResources")) {
      group.problem =
          "its operator gives it the GPUs of the profile that it chooses; state them in resources";
    }
    return true;
  }

  Result<bool> read_inference_service() {
    for (const std::string_view component : {"predictor", "transformer", "explainer"}) {
      if (!spec_.has(component)) continue;
      TRY(add_component(component, spec_[component]));
    }
    const bool states_nothing =
        std::ranges::all_of(workload_.groups, [](const ReplicaGroup& group) {
          return group.gpus.empty() && group.cpu_milli == 0 && group.memory_bytes == 0 &&
                 group.problem.empty();
        });
    if (states_nothing) {
      workload_.notes.emplace_back(
          "it states no resources; those of its serving runtime are not in the files");
    }
    return true;
  }

  // What the TrainJob itself says of the pods of a job of its runtime.
  DocumentNode train_overrides(std::string_view job) const {
    DocumentNode overrides = mapping_node(object_.line);
    for (const std::string_view list : {"podSpecOverrides", "podTemplateOverrides"}) {
      for (const DocumentNode& entry : spec_[list].items) {
        const auto& targets = entry["targetJobs"].items;
        const bool is_meant = std::ranges::any_of(
            targets, [&](const DocumentNode& target) { return target["name"].scalar == job; });
        if (!is_meant) continue;
        const DocumentNode& of_pods = list == "podSpecOverrides" ? entry : entry["spec"];
        for (const std::string_view key : {"nodeSelector", "affinity"}) {
          if (of_pods.has(key)) overlay(field_of(overrides, key), of_pods[key]);
        }
      }
    }
    return overrides;
  }

  // The container of a node of the training, which the trainer changes.
  static void change_trainer(const DocumentNode& trainer, DocumentNode& container) {
    if (trainer.has("resourcesPerNode")) {
      field_of(container, "resources") = trainer["resourcesPerNode"];
    }
    for (const std::string_view key : {"image", "env"}) {
      if (trainer.has(key)) field_of(container, key) = trainer[key];
    }
  }

  // trainer.kubeflow.org: the runtime that it names holds the pods; what the trainer states takes
  // the place of the runtime's.
  Result<bool> read_train_job() {
    workload_.lifetime = Lifetime::kRun;
    const DocumentNode& trainer = spec_["trainer"];
    const DocumentNode& reference = spec_["runtimeRef"];
    const std::string kind =
        reference.has("kind") ? reference["kind"].scalar : std::string("ClusterTrainingRuntime");
    if (const auto* const runtime = find_runtime({kind}, reference["name"].scalar)) {
      return read_train_runtime(*runtime, trainer);
    }
    const auto nodes = TRY(read_whole(trainer, "numNodes", 1, kReplicasMax));
    if (!trainer.has("numNodes")) {
      workload_.notes.emplace_back(
          "it does not state trainer.numNodes; one is assumed, its runtime may state more");
    }
    DocumentNode container = mapping_node(object_.line);
    change_trainer(trainer, container);
    DocumentNode pod_spec = train_overrides("node");
    DocumentNode& containers = field_of(pod_spec, "containers");
    containers.kind = DocumentNode::Kind::kSequence;
    containers.items.push_back(std::move(container));
    DocumentNode pod_template = template_of(std::move(pod_spec));
    pod_template.line = trainer ? trainer.line : object_.line;
    ReplicaGroup& group = add("node", pod_template, nodes);
    if (!trainer.has("resourcesPerNode")) {
      group.problem = fmt::format(
          "its runtime '{}' says what a node asks for, and is in none of the files; state "
          "trainer.resourcesPerNode, or give that file",
          printable_text(reference["name"].scalar, 120));
    }
    return true;
  }

  // The jobs of a runtime: that of the trainer, and those that prepare data, or launch it.
  Result<bool> read_train_runtime(const DocumentNode& runtime, const DocumentNode& trainer) {
    const DocumentNode& terms = runtime["mlPolicy"];
    const auto nodes_of_runtime = TRY(read_whole(terms, "numNodes", 1, kReplicasMax));
    const auto nodes = TRY(read_whole(trainer, "numNodes", nodes_of_runtime, kReplicasMax));
    const bool launches_as_node = terms.at("mpi.runLauncherAsNode").scalar == "true";
    for (const DocumentNode& job : runtime.at("template.spec.replicatedJobs").items) {
      const std::string& name = job["name"].scalar;
      const bool trains =
          name == "node" ||
          job.at("template.metadata.labels")["trainer.kubeflow.org/trainjob-ancestor-step"]
                  .scalar == "trainer";
      const bool is_launcher = name == "launcher";
      DocumentNode pod_template = job.at("template.spec.template");
      overlay(field_of(pod_template, "spec"), train_overrides(name));
      for (DocumentNode& container : field_of(field_of(pod_template, "spec"), "containers").items) {
        const bool is_node =
            container["name"].scalar == "node" || container["name"].scalar == "trainer";
        if (is_node && (trains || launches_as_node)) change_trainer(trainer, container);
      }
      const std::uint64_t launched = launches_as_node && nodes > 0 ? 1 : 0;
      const std::uint64_t pods = trains && !is_launcher ? nodes - launched : 1;
      add(name, pod_template, pods);
    }
    if (workload_.groups.empty()) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("line {}: its runtime has no jobs", runtime.line));
    }
    return true;
  }

  Result<bool> read_kueue_workload() {
    workload_.lifetime = Lifetime::kRun;
    for (const DocumentNode& pod_set : spec_["podSets"].items) {
      const auto count = TRY(read_whole(pod_set, "count", 1, kReplicasMax));
      add(pod_set["name"].scalar, pod_set["template"], count);
    }
    return true;
  }

  // workload.codeflare.dev: whole objects, which it makes together.
  Result<bool> read_app_wrapper() {
    workload_.lifetime = Lifetime::kRun;
    for (const DocumentNode& component : spec_["components"].items) {
      DocumentNode object = component["template"];
      const std::string& kind = object["kind"].scalar;
      if (is_without_cost(kind) || (kind == "Service" && api_group(object).empty())) continue;
      place_in_namespace(object);
      const auto inner = TRY(ObjectReader(object, claims_, runtimes_).read());
      if (!inner) {
        return fail(ErrorCode::kUnsupported,
                    fmt::format("line {}: it holds a {}, a kind that is not known", object.line,
                                printable_text(kind, 80)));
      }
      if (inner->lifetime != Lifetime::kRun) workload_.lifetime = Lifetime::kService;
      add_part(*inner);
      for (const ReplicaGroup& group : inner->groups) {
        ReplicaGroup& added = workload_.groups.emplace_back(group);
        added.name =
            group.name.empty() ? inner->name : fmt::format("{} {}", inner->name, group.name);
      }
    }
    join_part_texts(&WorkloadRequest::labels, &WorkloadPart::labels);
    join_part_texts(&WorkloadRequest::annotations, &WorkloadPart::annotations);
    return true;
  }

  // Its groups are added right after it. What it holds itself comes as parts of their own.
  void add_part(const WorkloadRequest& inner) {
    const std::size_t begin = workload_.groups.size();
    std::vector<std::size_t> groups(inner.groups.size());
    std::iota(groups.begin(), groups.end(), begin);
    workload_.parts.push_back({.kind = inner.kind,
                               .api_group = inner.api_group,
                               .name_space = inner.name_space,
                               .name = inner.name,
                               .labels = inner.labels,
                               .annotations = inner.annotations,
                               .lifetime = inner.lifetime,
                               .schedule = inner.schedule,
                               .groups = std::move(groups)});
    for (WorkloadPart part : inner.parts) {
      for (std::size_t& group : part.groups) group += begin;
      workload_.parts.push_back(std::move(part));
    }
  }

  using Texts = std::map<std::string, std::string, std::less<>>;

  // A label or annotation of components is one of the whole only where all of them state the same,
  // so that no component hides behind another's. Components have those of the whole that they don't
  // state.
  void join_part_texts(Texts WorkloadRequest::* of_whole, Texts WorkloadPart::* of_part) {
    const Texts own = workload_.*of_whole;
    if (!workload_.parts.empty()) {
      for (const auto& [key, value] : workload_.parts.front().*of_part) {
        const bool is_of_all = std::ranges::all_of(workload_.parts, [&](const WorkloadPart& part) {
          const auto at = (part.*of_part).find(key);
          return at != (part.*of_part).end() && at->second == value;
        });
        if (is_of_all) (workload_.*of_whole).emplace(key, value);
      }
    }
    for (WorkloadPart& part : workload_.parts) (part.*of_part).insert(own.begin(), own.end());
  }

  // An object without a namespace is made in that of what holds it.
  void place_in_namespace(DocumentNode& object) const {
    const auto meta = std::ranges::find(object.fields, "metadata", &DocumentNode::Field::key);
    if (meta == object.fields.end() || meta->value.has("namespace")) return;
    DocumentNode name_space;
    name_space.kind = DocumentNode::Kind::kScalar;
    name_space.scalar = name_space_;
    meta->value.fields.emplace_back("namespace", std::move(name_space));
  }

  Result<bool> read_knative() {
    const DocumentNode& revision = spec_["template"];
    const DocumentNode& annotations = revision.at("metadata.annotations");
    // Older versions write "minScale".
    const auto scale = [&](std::string_view key, std::string_view older_key) {
      return read_whole(annotations, annotations.has(key) ? key : older_key, 0, kReplicasMax);
    };
    const auto least =
        TRY(scale("autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale"));
    const auto most =
        TRY(scale("autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale"));
    ReplicaGroup& group = add("", revision, std::max<std::uint64_t>(least, 1));
    if (most > group.replicas) group.replicas_max = most;
    if (least == 0) {
      workload_.notes.emplace_back("it may scale to zero; the price is that of one replica");
    }
    return true;
  }

  const DocumentNode& object_;
  const DocumentNode& spec_;
  std::string kind_;
  std::string group_;
  std::string name_space_;
  const DeviceClaims& claims_;
  const RuntimesByName& runtimes_;
  WorkloadRequest workload_;
};

bool is_list(const DocumentNode& node) {
  return node["kind"].scalar.ends_with("List") &&
         node["items"].kind == DocumentNode::Kind::kSequence;
}

bool is_claim_kind(std::string_view kind) {
  return kind == "ResourceClaim" || kind == "ResourceClaimTemplate";
}

bool is_storage_kind(std::string_view kind) {
  return kind == "PersistentVolumeClaim" || kind == "PersistentVolume";
}

bool is_autoscaler_kind(std::string_view kind) {
  return kind == "HorizontalPodAutoscaler" || kind == "ScaledObject";
}

class ObjectsReader {
 public:
  ManifestReading run(std::span<const SourcedDocument> documents) {
    for (const SourcedDocument& document : documents) {
      flatten(document.node, document.file);
    }
    for (const auto& [file, object] : objects_) collect_class(*object);
    for (const auto& [file, object] : objects_) collect_runtime(*object);
    for (const auto& [file, object] : objects_) collect_claim(*object);
    for (const auto& [file, object] : objects_) read_object(file, *object);
    for (const auto& [file, object] : objects_) collect_cluster_object(*object, reading_.cluster);
    for (const auto& [file, object] : objects_) read_shared_claim(file, *object);
    for (const auto& [file, object] : objects_) apply_autoscaler(file, *object);
    return std::move(reading_);
  }

 private:
  void flatten(const DocumentNode& node, const std::string& file) {
    if (!is_list(node)) {
      objects_.emplace_back(file, &node);
      return;
    }
    for (const DocumentNode& item : node["items"].items) flatten(item, file);
  }

  void collect_class(const DocumentNode& object) {
    if (object["kind"].scalar != "DeviceClass") return;
    claims_.classes.emplace(object.at("metadata.name").scalar, &object["spec"]);
  }

  void collect_runtime(const DocumentNode& object) {
    const std::string& kind = object["kind"].scalar;
    if (!is_runtime_kind(kind)) return;
    runtimes_.emplace(runtime_key(kind, object.at("metadata.namespace").scalar,
                                  object.at("metadata.name").scalar),
                      &object["spec"]);
  }

  void collect_claim(const DocumentNode& object) {
    const std::string& kind = object["kind"].scalar;
    if (!is_claim_kind(kind)) return;
    const bool is_shared = kind == "ResourceClaim";
    ClaimedGpus claimed = read_claim(is_shared ? object["spec"] : object.at("spec.spec"), claims_);
    claimed.is_shared = is_shared;
    claims_.claims.emplace(
        claim_key(is_shared, scoped_name(object, object.at("metadata.name").scalar)),
        std::move(claimed));
  }

  // A claim of its own holds its GPUs once, as long as anything that uses it runs.
  void read_shared_claim(const std::string& file, const DocumentNode& object) {
    if (object["kind"].scalar != "ResourceClaim") return;
    const std::string name = scoped_name(object, object.at("metadata.name").scalar);
    const ClaimedGpus& claimed = claims_.claims.at(claim_key(true, name));
    const auto users = shared_users_.find(name);
    if (users == shared_users_.end() || !claimed.problem.empty() || claimed.gpus.empty()) return;
    WorkloadRequest workload;
    workload.file = file;
    workload.line = object.line;
    workload.kind = "ResourceClaim";
    workload.api_group = api_group(object);
    workload.name_space = object.at("metadata.namespace").scalar;
    workload.name = object.at("metadata.name").scalar;
    workload.labels = read_texts(object.at("metadata.labels"));
    workload.lifetime = users->second;
    ReplicaGroup group;
    group.line = object.line;
    group.gpus = claimed.gpus;
    group.place.gpu_model = claimed.gpu_model;
    group.place.gpu_vendor = claimed.gpu_vendor;
    workload.groups.push_back(std::move(group));
    workload.notes.emplace_back("its GPUs are priced once, however many pods share them");
    reading_.workloads.push_back(std::move(workload));
  }

  // Notes which claims of their own a workload uses.
  void collect_users(const DocumentNode& node, WorkloadRequest& workload) {
    for (const auto& [key, value] : node.fields) {
      if (key == "resourceClaimName" && value.kind == DocumentNode::Kind::kScalar) {
        const std::string claim = fmt::format("{}/{}", workload.name_space, value.scalar);
        const auto [at, is_new] = shared_users_.emplace(claim, Lifetime::kRun);
        if (workload.lifetime != Lifetime::kRun) at->second = Lifetime::kService;
        if (std::ranges::find(workload.shared_claims, claim) == workload.shared_claims.end()) {
          workload.shared_claims.push_back(claim);
        }
      }
      collect_users(value, workload);
    }
    for (const DocumentNode& item : node.items) collect_users(item, workload);
  }

  void set_aside(const std::string& file, const DocumentNode& object, std::string reason) {
    reading_.unpriced.push_back({file, object.line, object["kind"].scalar,
                                 object.at("metadata.name").scalar, std::move(reason)});
  }

  void read_object(const std::string& file, const DocumentNode& object) {
    const std::string& kind = object["kind"].scalar;
    if (is_claim_kind(kind) || is_autoscaler_kind(kind)) return;
    auto workload = ObjectReader(object, claims_, runtimes_).read();
    if (!workload) {
      set_aside(file, object, workload.error().message);
      return;
    }
    if (*workload) {
      if (const std::string missed = missed_gpus(object, **workload); !missed.empty()) {
        set_aside(file, object, missed);
        return;
      }
      collect_users(object, **workload);
      (*workload)->file = file;
      reading_.workloads.push_back(std::move(**workload));
      return;
    }
    const bool is_core_service = kind == "Service";
    if (is_core_service || is_without_cost(kind)) {
      ++reading_.without_cost;
      return;
    }
    set_aside(file, object, unknown_reason(object));
    // A resource of somebody's own may have any name.
    reading_.unpriced.back().runs_nothing = is_storage_kind(kind) && api_group(object).empty();
  }

  // An older version of a kind, or a field that is not known, may hold the GPUs: a workload that
  // mentions some must not be priced without any.
  static std::string missed_gpus(const DocumentNode& object, const WorkloadRequest& workload) {
    const bool has_any = std::ranges::any_of(workload.groups, [](const ReplicaGroup& group) {
      return !group.gpus.empty() || !group.problem.empty();
    });
    const DocumentNode::Field* gpus = has_any ? nullptr : find_gpu_resource(object);
    if (gpus == nullptr || gpus->value.scalar == "0") return "";
    return fmt::format(
        "it asks for {}: {} in line {}, in a field of {} that is not known in this version",
        printable_text(gpus->key, 80), printable_text(gpus->value.scalar, 40), gpus->value.line,
        printable_text(object["apiVersion"].scalar, 80));
  }

  static std::string unknown_reason(const DocumentNode& object) {
    const std::string& kind = object["kind"].scalar;
    if (kind == "DaemonSet") {
      return "it runs once on every node that fits, and how many these are is not in the files";
    }
    if (is_storage_kind(kind)) return "storage is not priced";
    const DocumentNode::Field* gpus = find_gpu_resource(object);
    if (gpus == nullptr) {
      return "a kind that is not known; it mentions no GPU resource, but what it starts is not in "
             "the price";
    }
    return fmt::format(
        "a kind that is not known, and it asks for {}: {} in line {}; give the objects that it "
        "makes instead",
        printable_text(gpus->key, 80), printable_text(gpus->value.scalar, 40), gpus->value.line);
  }

  void apply_autoscaler(const std::string& file, const DocumentNode& object) {
    const std::string& kind = object["kind"].scalar;
    if (!is_autoscaler_kind(kind)) return;
    const bool is_keda = kind == "ScaledObject";
    const DocumentNode& spec = object["spec"];
    const DocumentNode& target = spec["scaleTargetRef"];
    const auto least = read_whole(spec, is_keda ? "minReplicaCount" : "minReplicas",
                                  is_keda ? 0 : 1, kReplicasMax);
    const auto most = read_whole(spec, is_keda ? "maxReplicaCount" : "maxReplicas",
                                 is_keda ? 100 : 1, kReplicasMax);
    if (!least || !most) {
      set_aside(file, object, (least ? most : least).error().message);
      return;
    }
    const std::string target_kind =
        target.has("kind") ? target["kind"].scalar : std::string("Deployment");
    for (WorkloadRequest& workload : reading_.workloads) {
      const bool is_target = workload.kind == target_kind &&
                             workload.name == target["name"].scalar &&
                             workload.name_space == object.at("metadata.namespace").scalar;
      if (!is_target || workload.groups.empty()) continue;
      ReplicaGroup& group = workload.groups.front();
      group.replicas = std::max(group.replicas, *least);
      if (*most > group.replicas) group.replicas_max = *most;
      return;
    }
    set_aside(
        file, object,
        fmt::format("what it scales, {} {}, is in none of the files",
                    printable_text(target_kind, 60), printable_text(target["name"].scalar, 120)));
  }

  std::vector<std::pair<std::string, const DocumentNode*>> objects_;
  DeviceClaims claims_;
  RuntimesByName runtimes_;
  std::map<std::string, Lifetime, std::less<>> shared_users_;  // by the claim
  ManifestReading reading_;
};

}  // namespace

void WorkloadRequest::move_to_namespace(const std::string& other) {
  name_space = other;
  for (WorkloadPart& part : parts) part.name_space = other;
  for (std::string& claim : shared_claims) claim = other + claim.substr(claim.find('/'));
}

bool is_kubernetes_object(const DocumentNode& node) {
  return node["apiVersion"].kind == DocumentNode::Kind::kScalar &&
         node["kind"].kind == DocumentNode::Kind::kScalar;
}

ManifestReading read_kubernetes_objects(std::span<const SourcedDocument> documents) {
  return ObjectsReader().run(documents);
}

}  // namespace pennyweight::manifests
