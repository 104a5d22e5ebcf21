#include "ingest/kubernetes/state_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/hash.h"

namespace pennyweight::kubernetes {
namespace {

enum class Metric : std::uint8_t {
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

enum class What : std::uint8_t { kPod, kNode, kNamespace, kOwner };

struct Known {
  std::string_view name;
  Metric metric;
  What what;
  std::string_view of = {};  // the label that names an owner, and its kind
  std::string_view kind = {};
};
constexpr Known kKnown[] = {
    {"kube_pod_info", Metric::kPodInfo, What::kPod},
    {"kube_pod_status_phase", Metric::kPodPhase, What::kPod},
    {"kube_pod_created", Metric::kPodCreated, What::kPod},
    {"kube_pod_start_time", Metric::kPodStart, What::kPod},
    {"kube_pod_status_scheduled_time", Metric::kPodScheduled, What::kPod},
    {"kube_pod_completion_time", Metric::kPodCompletion, What::kPod},
    {"kube_pod_deletion_timestamp", Metric::kPodDeletion, What::kPod},
    {"kube_pod_labels", Metric::kPodLabels, What::kPod},
    {"kube_pod_annotations", Metric::kPodAnnotations, What::kPod},
    {"kube_pod_owner", Metric::kPodOwner, What::kPod},
    {"kube_pod_service_account", Metric::kPodServiceAccount, What::kPod},
    {"kube_pod_overhead_cpu_cores", Metric::kPodOverheadCpu, What::kPod},
    {"kube_pod_overhead_memory_bytes", Metric::kPodOverheadMemory, What::kPod},
    {"kube_pod_resourceclaim_info", Metric::kPodClaim, What::kPod},
    {"kube_pod_container_info", Metric::kContainer, What::kPod},
    {"kube_pod_init_container_info", Metric::kInitContainer, What::kPod},
    {"kube_pod_container_resource_requests", Metric::kRequest, What::kPod},
    {"kube_pod_init_container_resource_requests", Metric::kInitRequest, What::kPod},
    {"kube_node_info", Metric::kNodeInfo, What::kNode},
    {"kube_node_created", Metric::kNodeCreated, What::kNode},
    {"kube_node_labels", Metric::kNodeLabels, What::kNode},
    {"kube_node_annotations", Metric::kNodeAnnotations, What::kNode},
    {"kube_node_status_capacity", Metric::kNodeCapacity, What::kNode},
    {"kube_node_spec_unschedulable", Metric::kNodeCordoned, What::kNode},
    {"kube_node_spec_taint", Metric::kNodeTaint, What::kNode},
    {"kube_node_status_condition", Metric::kNodeReady, What::kNode},
    {"kube_namespace_labels", Metric::kNamespaceLabels, What::kNamespace},
    {"kube_replicaset_owner", Metric::kOwnerOwner, What::kOwner, "replicaset", "ReplicaSet"},
    {"kube_replicaset_labels", Metric::kOwnerLabels, What::kOwner, "replicaset", "ReplicaSet"},
    {"kube_job_owner", Metric::kOwnerOwner, What::kOwner, "job_name", "Job"},
    {"kube_job_labels", Metric::kOwnerLabels, What::kOwner, "job_name", "Job"},
    {"kube_deployment_labels", Metric::kOwnerLabels, What::kOwner, "deployment", "Deployment"},
    {"kube_statefulset_labels", Metric::kOwnerLabels, What::kOwner, "statefulset", "StatefulSet"},
    {"kube_daemonset_labels", Metric::kOwnerLabels, What::kOwner, "daemonset", "DaemonSet"},
    {"kube_cronjob_labels", Metric::kOwnerLabels, What::kOwner, "cronjob", "CronJob"},
};

const Known* find_known(std::string_view metric) {
  const auto at = std::ranges::find(kKnown, metric, &Known::name);
  return at == std::end(kKnown) ? nullptr : &*at;
}

// The labels of a series. A label that Prometheus moved out of the way of its own (honor_labels:
// false) is the one that kube-state-metrics wrote.
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

// An id for an owner, of which these series have none.
std::string owner_uid(std::string_view name_space, std::string_view kind, std::string_view name) {
  return fmt::format("{}/{}/{}", name_space, kind, name);
}

std::optional<Instant> instant_of(double seconds) {
  if (!(seconds > 0) || seconds > 7'258'118'399.0) return std::nullopt;
  return from_unix_ms(std::llround(seconds * 1000));
}

// A quantity as Kubernetes writes it: cores to the thousandth, the rest whole.
std::optional<std::string> quantity_of(double value, bool is_cores) {
  if (!(value >= 0) || value > 9e15) return std::nullopt;
  if (is_cores) return fmt::format("{}m", std::llround(value * 1000));
  return fmt::format("{}", std::llround(value));
}

}  // namespace

struct StateMetrics::Series {
  Metric metric{};
  bool is_stale = false;
  std::uint32_t thing = 0;
  std::uint32_t generation = 1;
  std::string name;   // container, phase, condition …
  std::string value;  // resource, node …
  std::unique_ptr<Texts> texts;
  Hash128 key;
  std::int64_t at_ms = 0;       // of the last sample; 0: none came
  std::int64_t changed_ms = 0;  // since when it has its value
  double number = 0;
};

struct StateMetrics::Thing {
  What what{};
  bool is_used = false;
  bool is_changed = false;
  bool is_told = false;  // the state has it
  std::string name_space;
  std::string name;
  std::string uid;
  std::string kind;  // of an owner
  std::vector<std::uint32_t> series;
  std::int64_t at_ms = 0;     // of its last sample
  std::int64_t stale_ms = 0;  // of the last stale marker
};

struct StateMetrics::Book {
  std::vector<Series> series;
  std::vector<std::uint32_t> free_series;
  std::vector<Thing> things;
  std::vector<std::uint32_t> free_things;
  std::map<Hash128, std::uint32_t> by_key;
  std::unordered_map<std::string, std::uint32_t> by_name;  // only looked into
  std::int64_t first_ms = 0;
  std::int64_t newest_ms = 0;

  static std::string name_of(What what, std::string_view kind, std::string_view id) {
    return fmt::format("{}/{}/{}", static_cast<int>(what), kind, id);
  }

  std::uint32_t thing_of(What what, std::string_view kind, std::string_view name_space,
                         std::string_view name, std::string_view uid) {
    const auto [at, is_new] = by_name.try_emplace(name_of(what, kind, uid));
    if (!is_new) return at->second;
    if (free_things.empty()) {
      free_things.push_back(static_cast<std::uint32_t>(things.size()));
      things.emplace_back();
    }
    at->second = free_things.back();
    free_things.pop_back();
    Thing& thing = things[at->second];
    thing = {};
    thing.what = what;
    thing.is_used = true;
    thing.kind = kind;
    thing.name_space = name_space;
    thing.name = name;
    thing.uid = uid;
    return at->second;
  }

  void forget(std::uint32_t index) {
    Thing& thing = things[index];
    for (const std::uint32_t at : thing.series) {
      by_key.erase(series[at].key);
      const std::uint32_t generation = series[at].generation + 1;
      series[at] = {};
      series[at].generation = generation;
      free_series.push_back(at);
    }
    by_name.erase(name_of(thing.what, thing.kind, thing.uid));
    thing = {};
    free_things.push_back(index);
  }

  Series* of_handle(std::uint64_t handle) {
    const std::uint64_t index = handle & 0xffffffffu;
    if (index == 0 || index > series.size()) return nullptr;
    Series& one = series[index - 1];
    return one.generation == handle >> 32 ? &one : nullptr;
  }

  // What is still said of a thing, the oldest first, so that the newest counts; of one that has
  // fallen silent, what was said last.
  std::vector<const Series*> said_of(const Thing& thing, std::int64_t silence_ms) const {
    const bool is_silent = thing.stale_ms > thing.at_ms;
    std::vector<const Series*> said;
    for (const std::uint32_t at : thing.series) {
      const Series& one = series[at];
      if (one.at_ms == 0 || (one.is_stale && !is_silent)) continue;
      if (one.at_ms + (one.is_stale ? silence_ms / 5 : silence_ms) < thing.at_ms) continue;
      said.push_back(&one);
    }
    std::ranges::stable_sort(said, {}, &Series::at_ms);
    return said;
  }

  static Container& container_of(std::vector<Container>& containers, const std::string& name) {
    const auto at = std::ranges::find(containers, name, &Container::name);
    if (at != containers.end()) return *at;
    return containers.emplace_back(
        Container{.name = name, .image = {}, .requests = {}, .limits = {}});
  }

  static Meta meta_of(const Thing& thing, std::string_view kind) {
    Meta meta;
    meta.kind = kind;
    meta.name = thing.name;
    meta.name_space = thing.name_space;
    meta.uid = thing.uid;
    return meta;
  }

  Pod pod_of(const Thing& thing, std::int64_t silence_ms) const;
  NodeObject node_of(const Thing& thing, std::int64_t silence_ms) const;
  Workload owner_of(const Thing& thing, std::int64_t silence_ms) const;
  Object object_of(const Thing& thing, std::int64_t silence_ms) const;
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

// "<none>" and empty are kube-state-metrics' words for nobody.
bool is_somebody(const std::string& kind) { return !kind.empty() && kind != "<none>"; }

}  // namespace

Pod StateMetrics::Book::pod_of(const Thing& thing, std::int64_t silence_ms) const {
  Pod pod;
  pod.meta = meta_of(thing, "Pod");
  std::optional<Instant> over;  // since it has the phase of a pod that is over
  std::optional<Instant> completed;
  for (const Series* one : said_of(thing, silence_ms)) {
    switch (one->metric) {
      case Metric::kPodInfo:
        if (!one->value.empty()) pod.node = one->value;
        if (!one->name.empty()) pod.priority_class = one->name;
        break;
      case Metric::kPodPhase:
        if (one->number != 1) break;
        pod.phase = one->name;
        over = from_unix_ms(one->changed_ms);
        break;
      case Metric::kPodCreated:
        pod.meta.created = instant_of(one->number);
        break;
      case Metric::kPodStart:
        pod.started = instant_of(one->number);
        break;
      case Metric::kPodScheduled:
        pod.scheduled = instant_of(one->number);
        break;
      case Metric::kPodCompletion:
        completed = instant_of(one->number);
        break;
      case Metric::kPodDeletion:
        pod.meta.deletion = instant_of(one->number);
        break;
      case Metric::kPodLabels:
        pod.meta.labels = *one->texts;
        break;
      case Metric::kPodAnnotations:
        pod.meta.annotations = *one->texts;
        break;
      case Metric::kPodOwner:
        if (is_somebody(one->name)) {
          pod.meta.owners.push_back(
              reference(thing.name_space, one->name, one->value, one->texts != nullptr));
        }
        break;
      case Metric::kPodServiceAccount:
        pod.service_account = one->name;
        break;
      case Metric::kPodOverheadCpu:
        if (const auto text = quantity_of(one->number, true)) {
          pod.overhead.insert_or_assign("cpu", *text);
        }
        break;
      case Metric::kPodOverheadMemory:
        if (const auto text = quantity_of(one->number, false)) {
          pod.overhead.insert_or_assign("memory", *text);
        }
        break;
      case Metric::kPodClaim:
        pod.claims.push_back({.name = one->name, .claim = one->value});
        break;
      case Metric::kContainer:
        container_of(pod.containers, one->name).image = one->value;
        break;
      case Metric::kInitContainer: {
        Container& container = container_of(pod.init_containers, one->name);
        container.image = one->value;
        container.is_sidecar = one->texts != nullptr;
        break;
      }
      case Metric::kRequest:
      case Metric::kInitRequest: {
        auto& list = one->metric == Metric::kRequest ? pod.containers : pod.init_containers;
        if (const auto text = quantity_of(one->number, one->value == "cpu")) {
          container_of(list, one->name).requests.insert_or_assign(one->value, *text);
        }
        break;
      }
      default:
        break;
    }
  }
  const bool is_over = pod.phase == "Succeeded" || pod.phase == "Failed";
  if (is_over) pod.terminated = completed ? completed : over;
  return pod;
}

NodeObject StateMetrics::Book::node_of(const Thing& thing, std::int64_t silence_ms) const {
  NodeObject node;
  node.meta = meta_of(thing, "Node");
  for (const Series* one : said_of(thing, silence_ms)) {
    switch (one->metric) {
      case Metric::kNodeInfo:
        node.provider_id = one->value;
        break;
      case Metric::kNodeCreated:
        node.meta.created = instant_of(one->number);
        break;
      case Metric::kNodeLabels:
        node.meta.labels = *one->texts;
        break;
      case Metric::kNodeAnnotations:
        node.meta.annotations = *one->texts;
        break;
      case Metric::kNodeCapacity:
        if (const auto text = quantity_of(one->number, one->value == "cpu")) {
          node.capacity.insert_or_assign(one->value, *text);
        }
        break;
      case Metric::kNodeCordoned:
        node.is_unschedulable = one->number == 1;
        break;
      case Metric::kNodeTaint:
        if (one->number == 1) {
          node.taints.push_back({.key = one->name, .effect = one->value, .added = {}});
        }
        break;
      case Metric::kNodeReady:
        if (one->number == 1) node.is_ready = one->value == "true";
        break;
      default:
        break;
    }
  }
  return node;
}

Workload StateMetrics::Book::owner_of(const Thing& thing, std::int64_t silence_ms) const {
  Workload owner{meta_of(thing, thing.kind)};
  for (const Series* one : said_of(thing, silence_ms)) {
    if (one->metric == Metric::kOwnerLabels) owner.meta.labels = *one->texts;
    if (one->metric == Metric::kOwnerOwner && is_somebody(one->name)) {
      owner.meta.owners.push_back(
          reference(thing.name_space, one->name, one->value, one->texts != nullptr));
    }
  }
  return owner;
}

Object StateMetrics::Book::object_of(const Thing& thing, std::int64_t silence_ms) const {
  switch (thing.what) {
    case What::kPod:
      return pod_of(thing, silence_ms);
    case What::kNode:
      return node_of(thing, silence_ms);
    case What::kNamespace: {
      Namespace one{meta_of(thing, "Namespace")};
      for (const Series* said : said_of(thing, silence_ms)) one.meta.labels = *said->texts;
      return one;
    }
    case What::kOwner:
      return owner_of(thing, silence_ms);
  }
  CHECK(false, "every thing is an object");
}

StateMetrics::StateMetrics(StateMetricsOptions options, ClusterState& state)
    : options_(std::move(options)),
      names_(options_.label_names),
      state_(state),
      book_(std::make_unique<Book>()) {}
StateMetrics::~StateMetrics() = default;

std::uint64_t StateMetrics::declare(const telemetry::StateSeries& series) {
  const Known* known = find_known(series.metric);
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
  // Where texts are no map they are a flag that is set.
  const auto flag = [&](bool is_set) {
    if (is_set) made.texts = std::make_unique<Texts>();
  };
  switch (known->metric) {
    case Metric::kPodInfo:
      made.name = labels.get("priority_class");
      made.value = labels.get("node");
      break;
    case Metric::kPodPhase:
      made.name = labels.get("phase");
      break;
    case Metric::kPodLabels:
    case Metric::kNodeLabels:
    case Metric::kNamespaceLabels:
    case Metric::kOwnerLabels:
      texts_of("label_");
      break;
    case Metric::kPodAnnotations:
    case Metric::kNodeAnnotations:
      texts_of("annotation_");
      break;
    case Metric::kPodOwner:
    case Metric::kOwnerOwner:
      made.name = labels.get("owner_kind");
      made.value = labels.get("owner_name");
      flag(labels.get("owner_is_controller") == "true");
      break;
    case Metric::kPodServiceAccount:
      made.name = labels.get("service_account");
      break;
    case Metric::kPodClaim:
      made.name = labels.get("claim_name");
      made.value = labels.get("resourceclaim_name");
      break;
    case Metric::kContainer:
    case Metric::kInitContainer:
      made.name = labels.get("container");
      made.value = labels.get("image_spec");
      if (made.value.empty()) made.value = labels.get("image");
      flag(labels.get("restart_policy") == "Always");
      break;
    case Metric::kRequest:
    case Metric::kInitRequest:
      made.name = labels.get("container");
      made.value = resource_of(labels.get("resource"));
      break;
    case Metric::kNodeInfo:
      made.value = labels.get("provider_id");
      break;
    case Metric::kNodeCapacity:
      made.value = resource_of(labels.get("resource"));
      break;
    case Metric::kNodeTaint:
      made.name = labels.get("key");
      made.value = labels.get("effect");
      break;
    case Metric::kNodeReady:
      if (labels.get("condition") != "Ready") return 0;
      made.value = labels.get("status");
      break;
    case Metric::kPodCreated:
    case Metric::kPodStart:
    case Metric::kPodScheduled:
    case Metric::kPodCompletion:
    case Metric::kPodDeletion:
    case Metric::kPodOverheadCpu:
    case Metric::kPodOverheadMemory:
    case Metric::kNodeCreated:
    case Metric::kNodeCordoned:
      break;
  }
  // Nobody allocates pods' storage or nodes' number of pods.
  const bool is_amount = known->metric == Metric::kRequest ||
                         known->metric == Metric::kInitRequest ||
                         known->metric == Metric::kNodeCapacity;
  if (is_amount && made.value != "cpu" && made.value != "memory" &&
      made.value.find('/') == std::string::npos && made.value.find("gpu") == std::string::npos) {
    return 0;
  }

  const std::string name_space(labels.get("namespace"));
  std::string name, uid;
  switch (known->what) {
    case What::kPod:
      name = labels.get("pod");
      uid = labels.get("uid");
      if (uid.empty() && !name.empty()) uid = fmt::format("{}/{}", name_space, name);
      break;
    case What::kNode:
      uid = name = labels.get("node");
      break;
    case What::kNamespace:
      uid = name = name_space;
      break;
    case What::kOwner:
      name = labels.get(known->of);
      if (!name.empty()) uid = owner_uid(name_space, known->kind, name);
      break;
  }
  if (name.empty()) return 0;

  Fingerprint print;
  print.add(series.metric);
  for (const prometheus::Label& label : series.labels) print.add(label.name).add(label.value);
  made.key = print.hash();
  const auto found = book_->by_key.find(made.key);
  const auto handle_of = [&](std::uint32_t index) {
    return std::uint64_t{book_->series[index].generation} << 32 | (index + 1);
  };
  if (found != book_->by_key.end()) return handle_of(found->second);
  if (book_->by_key.size() >= kStateSeriesMax) {
    ++refused_;
    return 0;
  }
  made.thing = book_->thing_of(known->what, known->kind,
                               known->what == What::kNamespace ? "" : name_space, name, uid);
  if (book_->free_series.empty()) {
    book_->free_series.push_back(static_cast<std::uint32_t>(book_->series.size()));
    book_->series.emplace_back();
  }
  const std::uint32_t index = book_->free_series.back();
  book_->free_series.pop_back();
  made.generation = book_->series[index].generation;
  book_->things[made.thing].series.push_back(index);
  book_->by_key.emplace(made.key, index);
  book_->series[index] = std::move(made);
  return handle_of(index);
}

bool StateMetrics::sample(std::uint64_t handle, std::int64_t at_ms, double value) {
  Series* series = book_->of_handle(handle);
  if (series == nullptr) return false;
  if (at_ms <= series->at_ms || std::isnan(value)) return true;
  Thing& thing = book_->things[series->thing];
  if (series->at_ms == 0 || series->is_stale || series->number != value) {
    series->changed_ms = at_ms;
    thing.is_changed = true;
  }
  series->at_ms = at_ms;
  series->is_stale = false;
  series->number = value;
  thing.at_ms = std::max(thing.at_ms, at_ms);
  if (book_->first_ms == 0 || at_ms < book_->first_ms) book_->first_ms = at_ms;
  book_->newest_ms = std::max(book_->newest_ms, at_ms);
  return true;
}

bool StateMetrics::stale(std::uint64_t handle, std::int64_t at_ms) {
  Series* series = book_->of_handle(handle);
  if (series == nullptr) return false;
  if (at_ms <= series->at_ms) return true;
  Thing& thing = book_->things[series->thing];
  series->is_stale = true;
  thing.is_changed = true;
  thing.stale_ms = std::max(thing.stale_ms, at_ms);
  return true;
}

std::optional<Instant> StateMetrics::settle() {
  if (book_->newest_ms == 0) return std::nullopt;
  const std::int64_t interval = options_.interval.count();
  const std::int64_t silence = interval * 5 / 2;
  const std::int64_t gone_after = std::max(silence, std::chrono::milliseconds(kGoneAfter).count());
  const bool is_whole = book_->newest_ms >= book_->first_ms + interval;
  // What pods refer to comes first.
  for (const bool pods : {false, true}) {
    if (pods && !is_whole) break;
    for (std::uint32_t i = 0; i < book_->things.size(); ++i) {
      Thing& thing = book_->things[i];
      if (!thing.is_used || (thing.what == What::kPod) != pods || thing.at_ms == 0) continue;
      const bool is_gone = thing.at_ms + gone_after < book_->newest_ms;
      // When all of it is stale it says nothing new; it is gone, or kube-state-metrics is.
      const bool is_silent = thing.stale_ms > thing.at_ms;
      if (thing.is_changed && (!is_silent || (is_gone && !thing.is_told))) {
        Object object = book_->object_of(thing, silence);
        state_.apply(object, from_unix_ms(thing.at_ms));
        thing.is_changed = false;
        thing.is_told = true;
      }
      if (!is_gone) continue;
      const bool has_marker = thing.stale_ms > thing.at_ms;
      const std::int64_t end =
          has_marker ? std::min(thing.stale_ms, thing.at_ms + interval) : thing.at_ms;
      if (pods) {
        state_.end_pod(thing.uid, from_unix_ms(end));
      } else {
        state_.apply_deleted(book_->object_of(thing, silence), from_unix_ms(end));
      }
      book_->forget(i);
    }
  }
  return from_unix_ms(book_->newest_ms);
}

std::size_t StateMetrics::series() const { return book_->by_key.size(); }

}  // namespace pennyweight::kubernetes
