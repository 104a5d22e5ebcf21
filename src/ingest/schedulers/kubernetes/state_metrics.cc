#include "ingest/schedulers/kubernetes/state_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/hash.h"

namespace pennyweight::kubernetes {

// What a series describes.
enum class StateMetric : std::uint8_t {
  kPodInfo,
  kPodPhase,
  kPodCreated,
  kPodStart,
  kPodScheduled,
  kPodCompletion,
  kPodDeletion,
  kPodLabels,
  kPodAnnotations,
  kPodOwner,
  kPodServiceAccount,
  kPodOverheadCpu,
  kPodOverheadMemory,
  kPodClaim,
  kContainer,
  kInitContainer,
  kRequest,
  kInitRequest,
  kKilled,      // the container has ended so
  kLastKilled,  // it ended so before it was started again
  kLastEnd,
  kStarted,
  kNodeInfo,
  kNodeCreated,
  kNodeLabels,
  kNodeAnnotations,
  kNodeCapacity,
  kNodeCordoned,
  kNodeTaint,
  kNodeReady,
  kNamespaceLabels,
  kOwnerOwner,
  kOwnerLabels,
};

enum class TrackedType : std::uint8_t { kPod, kNode, kNamespace, kOwner };

namespace {

struct KnownMetric {
  std::string_view name;
  StateMetric metric;
  TrackedType type;
  std::string_view of = {};  // the label that names an owner, and its kind
  std::string_view kind = {};
};
constexpr KnownMetric kKnown[] = {
    {"kube_pod_info", StateMetric::kPodInfo, TrackedType::kPod},
    {"kube_pod_status_phase", StateMetric::kPodPhase, TrackedType::kPod},
    {"kube_pod_created", StateMetric::kPodCreated, TrackedType::kPod},
    {"kube_pod_start_time", StateMetric::kPodStart, TrackedType::kPod},
    {"kube_pod_status_scheduled_time", StateMetric::kPodScheduled, TrackedType::kPod},
    {"kube_pod_completion_time", StateMetric::kPodCompletion, TrackedType::kPod},
    {"kube_pod_deletion_timestamp", StateMetric::kPodDeletion, TrackedType::kPod},
    {"kube_pod_labels", StateMetric::kPodLabels, TrackedType::kPod},
    {"kube_pod_annotations", StateMetric::kPodAnnotations, TrackedType::kPod},
    {"kube_pod_owner", StateMetric::kPodOwner, TrackedType::kPod},
    {"kube_pod_service_account", StateMetric::kPodServiceAccount, TrackedType::kPod},
    {"kube_pod_overhead_cpu_cores", StateMetric::kPodOverheadCpu, TrackedType::kPod},
    {"kube_pod_overhead_memory_bytes", StateMetric::kPodOverheadMemory, TrackedType::kPod},
    {"kube_pod_resourceclaim_info", StateMetric::kPodClaim, TrackedType::kPod},
    {"kube_pod_container_info", StateMetric::kContainer, TrackedType::kPod},
    {"kube_pod_init_container_info", StateMetric::kInitContainer, TrackedType::kPod},
    {"kube_pod_container_resource_requests", StateMetric::kRequest, TrackedType::kPod},
    {"kube_pod_init_container_resource_requests", StateMetric::kInitRequest, TrackedType::kPod},
    {"kube_pod_container_status_terminated_reason", StateMetric::kKilled, TrackedType::kPod},
    {"kube_pod_container_status_last_terminated_reason", StateMetric::kLastKilled,
     TrackedType::kPod},
    {"kube_pod_container_status_last_terminated_timestamp", StateMetric::kLastEnd,
     TrackedType::kPod},
    {"kube_pod_container_state_started", StateMetric::kStarted, TrackedType::kPod},
    {"kube_node_info", StateMetric::kNodeInfo, TrackedType::kNode},
    {"kube_node_created", StateMetric::kNodeCreated, TrackedType::kNode},
    {"kube_node_labels", StateMetric::kNodeLabels, TrackedType::kNode},
    {"kube_node_annotations", StateMetric::kNodeAnnotations, TrackedType::kNode},
    {"kube_node_status_capacity", StateMetric::kNodeCapacity, TrackedType::kNode},
    {"kube_node_spec_unschedulable", StateMetric::kNodeCordoned, TrackedType::kNode},
    {"kube_node_spec_taint", StateMetric::kNodeTaint, TrackedType::kNode},
    {"kube_node_status_condition", StateMetric::kNodeReady, TrackedType::kNode},
    {"kube_namespace_labels", StateMetric::kNamespaceLabels, TrackedType::kNamespace},
    {"kube_replicaset_owner", StateMetric::kOwnerOwner, TrackedType::kOwner, "replicaset",
     "ReplicaSet"},
    {"kube_replicaset_labels", StateMetric::kOwnerLabels, TrackedType::kOwner, "replicaset",
     "ReplicaSet"},
    {"kube_job_owner", StateMetric::kOwnerOwner, TrackedType::kOwner, "job_name", "Job"},
    {"kube_job_labels", StateMetric::kOwnerLabels, TrackedType::kOwner, "job_name", "Job"},
    {"kube_deployment_labels", StateMetric::kOwnerLabels, TrackedType::kOwner, "deployment",
     "Deployment"},
    {"kube_statefulset_labels", StateMetric::kOwnerLabels, TrackedType::kOwner, "statefulset",
     "StatefulSet"},
    {"kube_daemonset_labels", StateMetric::kOwnerLabels, TrackedType::kOwner, "daemonset",
     "DaemonSet"},
    {"kube_cronjob_labels", StateMetric::kOwnerLabels, TrackedType::kOwner, "cronjob", "CronJob"},
};

const KnownMetric* find_known(std::string_view metric) {
  const auto at = std::ranges::find(kKnown, metric, &KnownMetric::name);
  return at == std::end(kKnown) ? nullptr : &*at;
}

// The labels of a series. Where Prometheus renamed a label because the target has one of its own
// (honor_labels: false), the renamed one is that of kube-state-metrics.
class SeriesLabels {
 public:
  explicit SeriesLabels(const std::vector<prometheus::Label>& labels) : labels_(labels) {}

  std::string_view get(std::string_view name) const {
    const std::string_view moved = find(fmt::format("exported_{}", name));
    return moved.empty() ? find(name) : moved;
  }
  template <class Act>
  void each(Act act) const {
    for (const prometheus::Label& label : labels_) act(label.name, label.value);
  }

 private:
  std::string_view find(std::string_view name) const {
    const auto at = std::ranges::find(labels_, name, &prometheus::Label::name);
    return at == labels_.end() ? std::string_view() : std::string_view(at->value);
  }
  const std::vector<prometheus::Label>& labels_;
};

// An id for an owner, since these series have none.
std::string owner_uid(std::string_view name_space, std::string_view kind, std::string_view name) {
  return fmt::format("{}/{}/{}", name_space, kind, name);
}

std::optional<Instant> to_instant(double seconds) {
  if (!(seconds > 0) || seconds > 7'258'118'399.0) return std::nullopt;
  return from_unix_ms(std::llround(seconds * 1000));
}

// A quantity as Kubernetes writes it: cores to the thousandth, others whole.
std::optional<std::string> quantity_text(double value, bool is_cores) {
  if (!(value >= 0) || value > 9e15) return std::nullopt;
  if (is_cores) return fmt::format("{}m", std::llround(value * 1000));
  return fmt::format("{}", std::llround(value));
}

}  // namespace

struct StateMetrics::Series {
  StateMetric metric{};
  bool is_stale = false;
  std::uint32_t object = 0;
  std::uint32_t generation = 1;
  std::string name;   // container, phase, condition …
  std::string value;  // resource, node …
  std::unique_ptr<Texts> texts;
  Hash128 key;
  std::int64_t at_ms = 0;       // of the last sample; 0: none came
  std::int64_t changed_ms = 0;  // since when it has its value
  double number = 0;
};

struct StateMetrics::TrackedObject {
  TrackedType type{};
  bool is_used = false;
  bool is_changed = false;
  bool is_reported = false;  // the state has it
  std::string name_space;
  std::string name;
  std::string uid;
  std::string kind;  // of an owner
  std::vector<std::uint32_t> series;
  std::int64_t at_ms = 0;     // of its last sample
  std::int64_t stale_ms = 0;  // of the last stale marker
};

struct StateMetrics::SeriesTable {
  std::vector<Series> series;
  std::vector<std::uint32_t> free_series;
  std::vector<TrackedObject> objects;
  std::vector<std::uint32_t> free_objects;
  std::map<Hash128, std::uint32_t> by_key;
  std::unordered_map<std::string, std::uint32_t> by_name;  // only looked into
  std::int64_t first_ms = 0;
  std::int64_t newest_ms = 0;

  static std::string table_key(TrackedType type, std::string_view kind, std::string_view id) {
    return fmt::format("{}/{}/{}", static_cast<int>(type), kind, id);
  }

  std::uint32_t find_or_add_object(TrackedType type, std::string_view kind,
                                   std::string_view name_space, std::string_view name,
                                   std::string_view uid) {
    const auto [at, is_new] = by_name.try_emplace(table_key(type, kind, uid));
    if (!is_new) return at->second;
    if (free_objects.empty()) {
      free_objects.push_back(static_cast<std::uint32_t>(objects.size()));
      objects.emplace_back();
    }
    at->second = free_objects.back();
    free_objects.pop_back();
    TrackedObject& object = objects[at->second];
    object = {};
    object.type = type;
    object.is_used = true;
    object.kind = kind;
    object.name_space = name_space;
    object.name = name;
    object.uid = uid;
    return at->second;
  }

  void forget(std::uint32_t index) {
    TrackedObject& object = objects[index];
    for (const std::uint32_t at : object.series) {
      by_key.erase(series[at].key);
      const std::uint32_t generation = series[at].generation + 1;
      series[at] = {};
      series[at].generation = generation;
      free_series.push_back(at);
    }
    by_name.erase(table_key(object.type, object.kind, object.uid));
    object = {};
    free_objects.push_back(index);
  }

  Series* find_series(std::uint64_t handle) {
    const std::uint64_t index = handle & 0xffffffffu;
    if (index == 0 || index > series.size()) return nullptr;
    Series& one = series[index - 1];
    return one.generation == handle >> 32 ? &one : nullptr;
  }

  // The series that still describe the object, the oldest first, so that the newest wins; for one
  // that has fallen silent, its last series.
  std::vector<const Series*> current_series(const TrackedObject& object,
                                            std::int64_t silence_ms) const {
    const bool is_silent = object.stale_ms > object.at_ms;
    std::vector<const Series*> said;
    for (const std::uint32_t at : object.series) {
      const Series& one = series[at];
      if (one.at_ms == 0 || (one.is_stale && !is_silent)) continue;
      if (one.at_ms + (one.is_stale ? silence_ms / 5 : silence_ms) < object.at_ms) continue;
      said.push_back(&one);
    }
    std::ranges::stable_sort(said, {}, &Series::at_ms);
    return said;
  }

  static Container& find_or_add_container(std::vector<Container>& containers,
                                          const std::string& name) {
    const auto at = std::ranges::find(containers, name, &Container::name);
    if (at != containers.end()) return *at;
    return containers.emplace_back(
        Container{.name = name, .image = {}, .requests = {}, .limits = {}});
  }

  static Meta make_meta(const TrackedObject& object, std::string_view kind) {
    Meta meta;
    meta.kind = kind;
    meta.name = object.name;
    meta.name_space = object.name_space;
    meta.uid = object.uid;
    return meta;
  }

  Pod make_pod(const TrackedObject& object, std::int64_t silence_ms) const;
  NodeObject make_node(const TrackedObject& object, std::int64_t silence_ms) const;
  Workload make_owner(const TrackedObject& object, std::int64_t silence_ms) const;
  Object make_object(const TrackedObject& object, std::int64_t silence_ms) const;
};

namespace {

OwnerReference reference(std::string_view name_space, const std::string& kind,
                         const std::string& name, bool is_controller) {
  return {.api_version = {},
          .kind = kind,
          .name = name,
          .uid = owner_uid(name_space, kind, name),
          .is_controller = is_controller};
}

// kube-state-metrics writes "<none>" or nothing where there is no owner.
bool is_somebody(const std::string& kind) { return !kind.empty() && kind != "<none>"; }

}  // namespace

Pod StateMetrics::SeriesTable::make_pod(const TrackedObject& object,
                                        std::int64_t silence_ms) const {
  Pod pod;
  pod.meta = make_meta(object, "Pod");
  std::optional<Instant> over;  // since it has the phase of a pod that is over
  std::optional<Instant> completed;
  std::map<std::string, Instant> killed, killed_before, last_ends, started;
  for (const Series* one : current_series(object, silence_ms)) {
    switch (one->metric) {
      case StateMetric::kPodInfo:
        if (!one->value.empty()) pod.node = one->value;
        if (!one->name.empty()) pod.priority_class = one->name;
        break;
      case StateMetric::kPodPhase:
        if (one->number != 1) break;
        pod.phase = one->name;
        over = from_unix_ms(one->changed_ms);
        break;
      case StateMetric::kPodCreated:
        pod.meta.created = to_instant(one->number);
        break;
      case StateMetric::kPodStart:
        pod.started = to_instant(one->number);
        break;
      case StateMetric::kPodScheduled:
        pod.scheduled = to_instant(one->number);
        break;
      case StateMetric::kPodCompletion:
        completed = to_instant(one->number);
        break;
      case StateMetric::kPodDeletion:
        pod.meta.deletion = to_instant(one->number);
        break;
      case StateMetric::kPodLabels:
        pod.meta.labels = *one->texts;
        break;
      case StateMetric::kPodAnnotations:
        pod.meta.annotations = *one->texts;
        break;
      case StateMetric::kPodOwner:
        if (is_somebody(one->name)) {
          pod.meta.owners.push_back(
              reference(object.name_space, one->name, one->value, one->texts != nullptr));
        }
        break;
      case StateMetric::kPodServiceAccount:
        pod.service_account = one->name;
        break;
      case StateMetric::kPodOverheadCpu:
        if (const auto text = quantity_text(one->number, true)) {
          pod.overhead.insert_or_assign("cpu", *text);
        }
        break;
      case StateMetric::kPodOverheadMemory:
        if (const auto text = quantity_text(one->number, false)) {
          pod.overhead.insert_or_assign("memory", *text);
        }
        break;
      case StateMetric::kPodClaim:
        pod.claims.push_back({.name = one->name, .claim = one->value});
        break;
      case StateMetric::kContainer:
        find_or_add_container(pod.containers, one->name).image = one->value;
        break;
      case StateMetric::kInitContainer: {
        Container& container = find_or_add_container(pod.init_containers, one->name);
        container.image = one->value;
        container.is_sidecar = one->texts != nullptr;
        break;
      }
      case StateMetric::kRequest:
      case StateMetric::kInitRequest: {
        auto& list = one->metric == StateMetric::kRequest ? pod.containers : pod.init_containers;
        if (const auto text = quantity_text(one->number, one->value == "cpu")) {
          find_or_add_container(list, one->name).requests.insert_or_assign(one->value, *text);
        }
        break;
      }
      case StateMetric::kKilled:
        if (one->number == 1) killed[one->name] = from_unix_ms(one->changed_ms);
        break;
      case StateMetric::kLastKilled:
        if (one->number == 1) killed_before[one->name] = from_unix_ms(one->changed_ms);
        break;
      case StateMetric::kLastEnd:
      case StateMetric::kStarted:
        if (const auto at = to_instant(one->number)) {
          (one->metric == StateMetric::kStarted ? started : last_ends)[one->name] = *at;
        }
        break;
      default:
        break;
    }
  }
  for (const auto& [name, seen] : killed) pod.killed.push_back({name, completed.value_or(seen)});
  // Versions before 2.10 don't say when: shortly before it was started again.
  for (const auto& [name, seen] : killed_before) {
    const auto end = last_ends.find(name), again = started.find(name);
    const Instant at = end != last_ends.end()   ? end->second
                       : again != started.end() ? again->second
                                                : seen;
    pod.killed.push_back({name, at});
  }
  const bool is_over = pod.phase == "Succeeded" || pod.phase == "Failed";
  if (is_over) pod.terminated = completed ? completed : over;
  return pod;
}

NodeObject StateMetrics::SeriesTable::make_node(const TrackedObject& object,
                                                std::int64_t silence_ms) const {
  NodeObject node;
  node.meta = make_meta(object, "Node");
  for (const Series* one : current_series(object, silence_ms)) {
    switch (one->metric) {
      case StateMetric::kNodeInfo:
        node.provider_id = one->value;
        break;
      case StateMetric::kNodeCreated:
        node.meta.created = to_instant(one->number);
        break;
      case StateMetric::kNodeLabels:
        node.meta.labels = *one->texts;
        break;
      case StateMetric::kNodeAnnotations:
        node.meta.annotations = *one->texts;
        break;
      case StateMetric::kNodeCapacity:
        if (const auto text = quantity_text(one->number, one->value == "cpu")) {
          node.capacity.insert_or_assign(one->value, *text);
        }
        break;
      case StateMetric::kNodeCordoned:
        node.is_unschedulable = one->number == 1;
        break;
      case StateMetric::kNodeTaint:
        if (one->number == 1) {
          node.taints.push_back({.key = one->name, .effect = one->value, .added = {}});
        }
        break;
      case StateMetric::kNodeReady:
        if (one->number == 1) node.is_ready = one->value == "true";
        break;
      default:
        break;
    }
  }
  return node;
}

Workload StateMetrics::SeriesTable::make_owner(const TrackedObject& object,
                                               std::int64_t silence_ms) const {
  Workload owner{make_meta(object, object.kind)};
  for (const Series* one : current_series(object, silence_ms)) {
    if (one->metric == StateMetric::kOwnerLabels) owner.meta.labels = *one->texts;
    if (one->metric == StateMetric::kOwnerOwner && is_somebody(one->name)) {
      owner.meta.owners.push_back(
          reference(object.name_space, one->name, one->value, one->texts != nullptr));
    }
  }
  return owner;
}

Object StateMetrics::SeriesTable::make_object(const TrackedObject& object,
                                              std::int64_t silence_ms) const {
  switch (object.type) {
    case TrackedType::kPod:
      return make_pod(object, silence_ms);
    case TrackedType::kNode:
      return make_node(object, silence_ms);
    case TrackedType::kNamespace: {
      Namespace one{make_meta(object, "Namespace")};
      for (const Series* said : current_series(object, silence_ms)) one.meta.labels = *said->texts;
      return one;
    }
    case TrackedType::kOwner:
      return make_owner(object, silence_ms);
  }
  CHECK(false, "every object is an object");
}

StateMetrics::StateMetrics(StateMetricsOptions options, ClusterState& state)
    : options_(std::move(options)),
      names_(options_.label_names),
      state_(state),
      table_(std::make_unique<SeriesTable>()) {}
StateMetrics::~StateMetrics() = default;

std::uint64_t StateMetrics::declare(const telemetry::StateSeries& series) {
  const KnownMetric* known = find_known(series.metric);
  if (known == nullptr) return 0;
  const SeriesLabels labels(series.labels);
  Series made;
  made.metric = known->metric;
  const auto texts_of = [&](std::string_view prefix) {
    made.texts = std::make_unique<Texts>();
    labels.each([&](std::string_view name, std::string_view value) {
      std::string key = names_.original(name, prefix);
      if (!key.empty() && value.find('\0') == std::string_view::npos) {
        made.texts->insert_or_assign(std::move(key), std::string(value));
      }
    });
  };
  // Texts that are not a map are a flag that is set.
  const auto flag = [&](bool is_set) {
    if (is_set) made.texts = std::make_unique<Texts>();
  };
  switch (known->metric) {
    case StateMetric::kPodInfo:
      made.name = labels.get("priority_class");
      made.value = labels.get("node");
      break;
    case StateMetric::kPodPhase:
      made.name = labels.get("phase");
      break;
    case StateMetric::kPodLabels:
    case StateMetric::kNodeLabels:
    case StateMetric::kNamespaceLabels:
    case StateMetric::kOwnerLabels:
      texts_of("label_");
      break;
    case StateMetric::kPodAnnotations:
    case StateMetric::kNodeAnnotations:
      texts_of("annotation_");
      break;
    case StateMetric::kPodOwner:
    case StateMetric::kOwnerOwner:
      made.name = labels.get("owner_kind");
      made.value = labels.get("owner_name");
      flag(labels.get("owner_is_controller") == "true");
      break;
    case StateMetric::kPodServiceAccount:
      made.name = labels.get("service_account");
      break;
    case StateMetric::kPodClaim:
      made.name = labels.get("claim_name");
      made.value = labels.get("resourceclaim_name");
      break;
    case StateMetric::kContainer:
    case StateMetric::kInitContainer:
      made.name = labels.get("container");
      made.value = labels.get("image_spec");
      if (made.value.empty()) made.value = labels.get("image");
      flag(labels.get("restart_policy") == "Always");
      break;
    case StateMetric::kRequest:
    case StateMetric::kInitRequest:
      made.name = labels.get("container");
      made.value = original_resource(labels.get("resource"));
      break;
    case StateMetric::kKilled:
    case StateMetric::kLastKilled:
      if (labels.get("reason") != "OOMKilled") return 0;
      made.name = labels.get("container");
      break;
    case StateMetric::kLastEnd:
    case StateMetric::kStarted:
      made.name = labels.get("container");
      break;
    case StateMetric::kNodeInfo:
      made.value = labels.get("provider_id");
      break;
    case StateMetric::kNodeCapacity:
      made.value = original_resource(labels.get("resource"));
      break;
    case StateMetric::kNodeTaint:
      made.name = labels.get("key");
      made.value = labels.get("effect");
      break;
    case StateMetric::kNodeReady:
      if (labels.get("condition") != "Ready") return 0;
      made.value = labels.get("status");
      break;
    case StateMetric::kPodCreated:
    case StateMetric::kPodStart:
    case StateMetric::kPodScheduled:
    case StateMetric::kPodCompletion:
    case StateMetric::kPodDeletion:
    case StateMetric::kPodOverheadCpu:
    case StateMetric::kPodOverheadMemory:
    case StateMetric::kNodeCreated:
    case StateMetric::kNodeCordoned:
      break;
  }
  // Storage and the number of pods of a node are not allocated.
  const bool is_amount = known->metric == StateMetric::kRequest ||
                         known->metric == StateMetric::kInitRequest ||
                         known->metric == StateMetric::kNodeCapacity;
  if (is_amount && made.value != "cpu" && made.value != "memory" &&
      made.value.find('/') == std::string::npos && made.value.find("gpu") == std::string::npos) {
    return 0;
  }

  const std::string name_space(labels.get("namespace"));
  std::string name, uid;
  switch (known->type) {
    case TrackedType::kPod:
      name = labels.get("pod");
      uid = labels.get("uid");
      if (uid.empty() && !name.empty()) uid = fmt::format("{}/{}", name_space, name);
      break;
    case TrackedType::kNode:
      uid = name = labels.get("node");
      break;
    case TrackedType::kNamespace:
      uid = name = name_space;
      break;
    case TrackedType::kOwner:
      name = labels.get(known->of);
      if (!name.empty()) uid = owner_uid(name_space, known->kind, name);
      break;
  }
  if (name.empty()) return 0;

  Fingerprint print;
  print.add(series.metric);
  for (const prometheus::Label& label : series.labels) print.add(label.name).add(label.value);
  made.key = print.hash();
  const auto found = table_->by_key.find(made.key);
  const auto handle_of = [&](std::uint32_t index) {
    return std::uint64_t{table_->series[index].generation} << 32 | (index + 1);
  };
  if (found != table_->by_key.end()) return handle_of(found->second);
  if (table_->by_key.size() >= kStateSeriesMax) {
    ++refused_;
    return 0;
  }
  made.object = table_->find_or_add_object(known->type, known->kind,
                                           known->type == TrackedType::kNamespace ? "" : name_space,
                                           name, uid);
  if (table_->free_series.empty()) {
    table_->free_series.push_back(static_cast<std::uint32_t>(table_->series.size()));
    table_->series.emplace_back();
  }
  const std::uint32_t index = table_->free_series.back();
  table_->free_series.pop_back();
  made.generation = table_->series[index].generation;
  table_->objects[made.object].series.push_back(index);
  table_->by_key.emplace(made.key, index);
  table_->series[index] = std::move(made);
  return handle_of(index);
}

bool StateMetrics::sample(std::uint64_t handle, std::int64_t at_ms, double value) {
  Series* series = table_->find_series(handle);
  if (series == nullptr) return false;
  if (at_ms <= series->at_ms || std::isnan(value)) return true;
  TrackedObject& object = table_->objects[series->object];
  if (series->at_ms == 0 || series->is_stale || series->number != value) {
    series->changed_ms = at_ms;
    object.is_changed = true;
  }
  series->at_ms = at_ms;
  series->is_stale = false;
  series->number = value;
  object.at_ms = std::max(object.at_ms, at_ms);
  if (table_->first_ms == 0 || at_ms < table_->first_ms) table_->first_ms = at_ms;
  table_->newest_ms = std::max(table_->newest_ms, at_ms);
  return true;
}

bool StateMetrics::stale(std::uint64_t handle, std::int64_t at_ms) {
  Series* series = table_->find_series(handle);
  if (series == nullptr) return false;
  if (at_ms <= series->at_ms) return true;
  TrackedObject& object = table_->objects[series->object];
  series->is_stale = true;
  object.is_changed = true;
  object.stale_ms = std::max(object.stale_ms, at_ms);
  return true;
}

std::optional<Instant> StateMetrics::settle() {
  if (table_->newest_ms == 0) return std::nullopt;
  const std::int64_t interval = options_.interval.count();
  const std::int64_t silence = interval * 5 / 2;
  const std::int64_t gone_after = std::max(silence, std::chrono::milliseconds(kGoneAfter).count());
  const bool is_whole = table_->newest_ms >= table_->first_ms + interval;
  // What pods refer to comes first.
  for (const bool pods : {false, true}) {
    if (pods && !is_whole) break;
    for (std::uint32_t i = 0; i < table_->objects.size(); ++i) {
      TrackedObject& object = table_->objects[i];
      if (!object.is_used || (object.type == TrackedType::kPod) != pods || object.at_ms == 0)
        continue;
      const bool is_gone = object.at_ms + gone_after < table_->newest_ms;
      // When all its series are stale it says nothing new: it is gone, or kube-state-metrics is.
      const bool is_silent = object.stale_ms > object.at_ms;
      if (object.is_changed && (!is_silent || (is_gone && !object.is_reported))) {
        state_.apply(table_->make_object(object, silence), from_unix_ms(object.at_ms));
        object.is_changed = false;
        object.is_reported = true;
      }
      if (!is_gone) continue;
      const bool has_marker = object.stale_ms > object.at_ms;
      const std::int64_t end =
          has_marker ? std::min(object.stale_ms, object.at_ms + interval) : object.at_ms;
      if (pods) {
        state_.end_pod(object.uid, from_unix_ms(end));
      } else {
        state_.apply_deleted(table_->make_object(object, silence), from_unix_ms(end));
      }
      table_->forget(i);
    }
  }
  return from_unix_ms(table_->newest_ms);
}

std::size_t StateMetrics::series() const { return table_->by_key.size(); }

}  // namespace pennyweight::kubernetes
