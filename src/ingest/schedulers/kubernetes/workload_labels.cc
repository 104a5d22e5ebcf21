#include "ingest/schedulers/kubernetes/workload_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace pennyweight::kubernetes {
namespace {

constexpr std::string_view kNoise[] = {"kubectl.kubernetes.io/",
                                       "cni.projectcalico.org/",
                                       "k8s.v1.cni.cncf.io/",
                                       "k8s.ovn.org/",
                                       "checksum/",
                                       "prometheus.io/",
                                       "kubernetes.io/config.",
                                       "hami.io/",
                                       "volcano.sh/",
                                       "run.ai/",
                                       "openshift.io/scc",
                                       "seccomp.security.alpha.kubernetes.io/"};

// A label of a pod, and the key under which it is reported.
struct LabelEntry {
  std::string_view from;
  std::string_view key;
};

// Labels that name the run a pod belongs to, and its kind; the first that is there counts. Sources:
// the API pages of Kueue, JobSet, the Kubeflow trainer, LeaderWorkerSet, KubeRay, Argo, Knative,
// Kubernetes and Volcano.
constexpr LabelEntry kJobs[] = {{"kueue.x-k8s.io/job-owner-name", "job-owner-gvk"},
                                {"kueue.x-k8s.io/pod-group-name", "PodGroup"},
                                {"jobset.sigs.k8s.io/jobset-name", "JobSet"},
                                {"training.kubeflow.org/job-name", ""},
                                {"leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet"},
                                {"ray.io/cluster", "RayCluster"},
                                {"workflows.argoproj.io/workflow", "Workflow"},
                                {"serving.kserve.io/inferenceservice", "InferenceService"},
                                {"serving.knative.dev/service", "Service"},
                                {"serving.knative.dev/revision", "Revision"},
                                {"batch.kubernetes.io/job-name", "Job"},
                                {"job-name", "Job"},
                                {"volcano.sh/job-name", "Job"}};

// Labels of their own, beside the job.
constexpr LabelEntry kFacts[] = {{"kueue.x-k8s.io/queue-name", "queue"},
                                 {"kai.scheduler/queue", "queue"},
                                 {"runai/queue", "queue"},
                                 {"volcano.sh/queue-name", "queue"},
                                 {"scheduling.volcano.sh/queue-name", "queue"},
                                 {"ray.io/cluster", "ray_cluster"},
                                 {"workflows.argoproj.io/workflow", "argo_workflow"},
                                 {"serving.kserve.io/inferenceservice", "kserve_service"},
                                 {"serving.knative.dev/service", "knative_service"},
                                 {"serving.knative.dev/revision", "knative_revision"},
                                 {"jobset.sigs.k8s.io/jobset-name", "jobset"},
                                 {"leaderworkerset.sigs.k8s.io/name", "leader_worker_set"},
                                 {"notebook-name", "notebook"},
                                 {"hub.jupyter.org/username", "notebook_user"}};

struct TypeOfKind {
  std::string_view kind;
  std::string_view type;
};
constexpr TypeOfKind kTypes[] = {{"PyTorchJob", "training"},
                                 {"TFJob", "training"},
                                 {"MPIJob", "training"},
                                 {"XGBoostJob", "training"},
                                 {"PaddleJob", "training"},
                                 {"JAXJob", "training"},
                                 {"TrainJob", "training"},
                                 {"RunaiJob", "training"},
                                 {"TrainingWorkload", "training"},
                                 {"InferenceService", "inference"},
                                 {"LLMInferenceService", "inference"},
                                 {"RayService", "inference"},
                                 {"InferenceWorkload", "inference"},
                                 {"Notebook", "notebook"},
                                 {"InteractiveWorkload", "notebook"},
                                 {"Job", "batch"},
                                 {"CronJob", "batch"},
                                 {"JobSet", "batch"},
                                 {"RayJob", "batch"},
                                 {"Workflow", "batch"},
                                 {"CronWorkflow", "batch"},
                                 {"SparkApplication", "batch"},
                                 {"Deployment", "service"},
                                 {"StatefulSet", "service"},
                                 {"DaemonSet", "service"},
                                 {"ReplicaSet", "service"}};

class CollectingSink {
 public:
  // The first value counts.
  void add(std::string_view key, std::string_view value) {
    if (value.empty() || result_.labels.find(key)) return;
    put(key, value);
  }
  // An empty label counts too.
  void add_found(std::string_view key, std::string_view value) {
    if (!result_.labels.find(key)) put(key, value);
  }
  bool has(std::string_view key) const { return result_.labels.find(key).has_value(); }
  PodLabels take() { return std::move(result_); }

 private:
  void put(std::string_view key, std::string_view value) {
    if (!result_.labels.set(key, value)) ++result_.dropped;
  }
  PodLabels result_;
};

// From the pod, else from its owners, the nearest first.
std::optional<std::string_view> find_label(const LabelSource& source, std::string_view key) {
  if (const auto value = source.labels->find(key)) return value;
  for (const Owner& owner : source.owners) {
    if (owner.known == nullptr) continue;
    if (const auto value = owner.known->labels.find(key)) return value;
  }
  return std::nullopt;
}

// "batch/v1, Kind=Job" or "pytorchjob.v1.kubeflow.org": the kind as far as it can be derived.
std::string_view kind_of_gvk(std::string_view text) {
  constexpr std::string_view kKind = "Kind=";
  const std::size_t at = text.find(kKind);
  if (at != std::string_view::npos) return text.substr(at + kKind.size());
  return text.substr(0, text.find('.'));
}

struct TopOwner {
  std::string kind;
  std::string name;
};

// The top of the chain. An unknown ReplicaSet belongs to its Deployment if its name ends in the
// pod's template hash, as the Deployment controller names it.
TopOwner top_owner(const LabelSource& source) {
  if (source.owners.empty()) return {};
  const Owner& top = source.owners.back();
  const auto hash = source.labels->find("pod-template-hash");
  if (top.kind == "ReplicaSet" && top.known == nullptr && hash && !hash->empty()) {
    const std::string suffix = fmt::format("-{}", *hash);
    if (top.name.size() > suffix.size() && top.name.ends_with(suffix)) {
      return {"Deployment", top.name.substr(0, top.name.size() - suffix.size())};
    }
  }
  return {top.kind, top.name};
}

std::string_view workload_type(std::string_view kind) {
  for (const TypeOfKind& known : kTypes) {
    if (known.kind == kind) return known.type;
  }
  return {};
}

// The type of workload by the kind of any owner, the most specific first.
std::string_view workload_type(const LabelSource& source, std::string_view top_kind) {
  if (source.labels->find("serving.kserve.io/inferenceservice") ||
      source.labels->find("serving.knative.dev/revision")) {
    return "inference";
  }
  if (source.labels->find("notebook-name") ||
      source.labels->find("component") == std::optional<std::string_view>("singleuser-server")) {
    return "notebook";
  }
  if (source.labels->find("training.kubeflow.org/job-name")) return "training";
  for (const std::string_view wanted : {"training", "inference", "notebook", "batch"}) {
    if (workload_type(top_kind) == wanted) return wanted;
    for (const Owner& owner : source.owners) {
      if (workload_type(owner.kind) == wanted) return wanted;
    }
  }
  return workload_type(top_kind);
}

void add_job(const LabelSource& source, const TopOwner& top, CollectingSink& labels) {
  for (const LabelEntry& label : kJobs) {
    const auto name = source.labels->find(label.from);
    if (!name || name->empty()) continue;
    labels.add("job", *name);
    std::string_view kind = label.key;
    if (kind == "job-owner-gvk") {
      kind = kind_of_gvk(
          source.labels->find("kueue.x-k8s.io/job-owner-gvk").value_or(std::string_view()));
    }
    if (kind.empty()) kind = top.kind;
    labels.add("job_kind", kind);
    return;
  }
  labels.add("job", top.name);
  labels.add("job_kind", top.kind);
}

bool matches(std::string_view pattern, std::string_view key) {
  if (!pattern.ends_with('*')) return pattern == key;
  return key.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

bool keeps_annotation(const LabelOptions& options, std::string_view key, std::size_t bytes) {
  if (std::ranges::any_of(options.annotations,
                          [&](std::string_view pattern) { return matches(pattern, key); })) {
    return true;
  }
  if (bytes > options.annotation_bytes_max || options.annotation_bytes_max == 0) return false;
  return std::ranges::none_of(kNoise,
                              [&](std::string_view prefix) { return key.starts_with(prefix); });
}

PodLabels pod_labels(const LabelSource& source) {
  CollectingSink labels;
  labels.add("namespace", source.name_space);
  labels.add("pod", source.pod);
  labels.add("node", source.node);
  labels.add("service_account", source.service_account);
  labels.add("priority_class", source.priority_class);
  labels.add("image", source.images);
  labels.add("phase", source.final_phase);
  const TopOwner top = top_owner(source);
  labels.add("owner_kind", top.kind);
  labels.add("owner_name", top.name);
  labels.add("workload_type", workload_type(source, top.kind));
  add_job(source, top, labels);
  for (const LabelEntry& label : kFacts) {
    if (const auto value = find_label(source, label.from)) labels.add(label.key, *value);
  }
  source.labels->each([&](std::string_view key, std::string_view value) {
    if (labels.has(key)) {
      labels.add_found(fmt::format("pod.label/{}", key), value);
    } else {
      labels.add_found(key, value);
    }
  });
  if (!source.owners.empty() && source.owners.back().known != nullptr) {
    source.owners.back().known->labels.each([&](std::string_view key, std::string_view value) {
      labels.add_found(fmt::format("owner.label/{}", key), value);
    });
  }
  if (source.namespace_labels != nullptr) {
    source.namespace_labels->each([&](std::string_view key, std::string_view value) {
      labels.add_found(fmt::format("namespace.label/{}", key), value);
    });
  }
  source.annotations->each([&](std::string_view key, std::string_view value) {
    labels.add_found(fmt::format("annotation/{}", key), value);
  });
  return labels.take();
}

}  // namespace pennyweight::kubernetes
