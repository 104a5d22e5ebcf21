#include "insight/guardrails/json_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/json_text.h"
#include "ingest/manifests/pod_places.h"

namespace pennyweight::guardrails {
namespace {

using manifests::DocumentNode;
using manifests::PodPlace;

class PatchWriter {
 public:
  void add(const std::string& pointer, std::string_view json) {
    operations_ += operations_.empty() ? "" : ",";
    operations_ +=
        fmt::format(R"({{"op":"add","path":{},"value":{}}})", json_string(pointer), json);
  }

  // Makes sure that what is to be added to is there.
  void need(const std::string& pointer, const DocumentNode& node, std::string_view empty) {
    if (node || !made_.insert(pointer).second) return;
    add(pointer, empty);
  }

  // Whether this is the first to add there: of several rules the first counts.
  bool is_first(const std::string& pointer) { return made_.insert(pointer).second; }

  std::string text() const { return "[" + operations_ + "]"; }

 private:
  std::string operations_;
  std::set<std::string> made_;
};

void add_labels(const PodPlace& place, const WorkloadChange& change, PatchWriter& patch) {
  const DocumentNode& metadata = (*place.node)["metadata"];
  for (const auto& [key, value] : change.labels) {
    if (!metadata["labels"][key].scalar.empty()) continue;
    const std::string metadata_at = place.pointer + "/metadata";
    const std::string labels_at = metadata_at + "/labels";
    const std::string label_at = labels_at + "/" + manifests::pointer_key(key);
    if (!patch.is_first(label_at)) continue;
    patch.need(metadata_at, metadata, "{}");
    patch.need(labels_at, metadata["labels"], "{}");
    patch.add(label_at, json_string(value));
  }
}

// Exists, or a toleration of everything (Kubernetes: an empty key with Exists).
bool tolerates(const DocumentNode& tolerations, const std::string& key) {
  return std::ranges::any_of(tolerations.items, [&](const DocumentNode& one) {
    const std::string& named = one["key"].scalar;
    return named == key || (named.empty() && one["operator"].scalar == "Exists");
  });
}

void add_to_spec(const PodPlace& place, const WorkloadChange& change, PatchWriter& patch) {
  const DocumentNode& spec = (*place.node)["spec"];
  const std::string spec_at = place.pointer + "/spec";
  const std::string class_at = spec_at + "/priorityClassName";
  // A priority without a class was stated by somebody too.
  const bool has_priority = spec.has("priorityClassName") || spec.has("priority");
  if (!change.priority_class.empty() && !has_priority && patch.is_first(class_at)) {
    patch.add(class_at, json_string(change.priority_class));
  }
  for (const std::string& key : change.tolerations) {
    const std::string tolerations_at = spec_at + "/tolerations";
    if (tolerates(spec["tolerations"], key)) continue;
    if (!patch.is_first(tolerations_at + "#" + key)) continue;
    patch.need(tolerations_at, spec["tolerations"], "[]");
    patch.add(tolerations_at + "/-",
              fmt::format(R"({{"key":{},"operator":"Exists"}})", json_string(key)));
  }
}

void add_time_limit(const DocumentNode& object, const WorkloadChange& change, PatchWriter& patch) {
  const bool is_cron = object["kind"].scalar == "CronJob";
  const DocumentNode& spec = is_cron ? object.at("spec.jobTemplate.spec") : object["spec"];
  const std::string at =
      is_cron ? "/spec/jobTemplate/spec/activeDeadlineSeconds" : "/spec/activeDeadlineSeconds";
  // A limit of the pods is a limit too.
  const bool has_limit =
      spec.has("activeDeadlineSeconds") || spec.at("template.spec").has("activeDeadlineSeconds");
  if (!spec.is_mapping() || has_limit || !patch.is_first(at)) return;
  patch.add(at, fmt::format("{}", std::max<std::uint64_t>(1, *change.run_ms / 1000)));
}

}  // namespace

std::string json_patch(const DocumentNode& object, const manifests::WorkloadRequest& request,
                       std::span<const WorkloadChange> changes) {
  std::vector<PodPlace> places = manifests::find_pod_places(object);
  PatchWriter patch;
  for (const WorkloadChange& change : changes) {
    add_labels({"", &object}, change, patch);
    for (const PodPlace& place : places) {
      if (!place.pointer.empty()) add_labels(place, change, patch);
      add_to_spec(place, change, patch);
    }
    if (change.run_ms && takes_time_limit(request)) add_time_limit(object, change, patch);
  }
  return patch.text();
}

}  // namespace pennyweight::guardrails
