#include "ingest/manifests/pod_places.h"

#include <fmt/format.h>

#include <utility>

namespace pennyweight::manifests {
namespace {

class PodPlaceFinder {
 public:
  explicit PodPlaceFinder(const DocumentNode& object) : object_(object), spec_(object["spec"]) {}

  std::vector<PodPlace> run() {
    const std::string& kind = object_["kind"].scalar;
    if (kind == "Pod") {
      places_.push_back({"", &object_});
    } else if (kind == "CronJob") {
      add("/spec/jobTemplate/spec/template", spec_.at("jobTemplate.spec.template"));
    } else if (kind == "JobSet") {
      add_each("/spec/replicatedJobs", spec_["replicatedJobs"], "template.spec.template");
    } else if (kind == "LeaderWorkerSet") {
      const DocumentNode& pair = spec_["leaderWorkerTemplate"];
      add("/spec/leaderWorkerTemplate/leaderTemplate", pair["leaderTemplate"]);
      add("/spec/leaderWorkerTemplate/workerTemplate", pair["workerTemplate"]);
    } else if (kind == "RayCluster") {
      add_ray("/spec", spec_);
    } else if (kind == "RayJob") {
      add_ray("/spec/rayClusterSpec", spec_["rayClusterSpec"]);
    } else if (kind == "RayService") {
      add_ray("/spec/rayClusterConfig", spec_["rayClusterConfig"]);
    } else if (spec_["tasks"].kind == DocumentNode::Kind::kSequence) {
      add_each("/spec/tasks", spec_["tasks"], "template");
    } else if (spec_["podSets"].kind == DocumentNode::Kind::kSequence) {
      // A Workload of Kueue is made from what was judged already.
    } else {
      add("/spec/template", spec_["template"]);
      add_replica_specs();
    }
    return std::move(places_);
  }

 private:
  void add(std::string pointer, const DocumentNode& node) {
    if (node["spec"].is_mapping()) places_.push_back({std::move(pointer), &node});
  }

  void add_each(std::string_view pointer, const DocumentNode& list, std::string_view path) {
    std::string below;
    for (const char c : path) below += c == '.' ? '/' : c;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      add(fmt::format("{}/{}/{}", pointer, i, below), list.items[i].at(path));
    }
  }

  void add_ray(const std::string& pointer, const DocumentNode& cluster) {
    add(pointer + "/headGroupSpec/template", cluster.at("headGroupSpec.template"));
    add_each(pointer + "/workerGroupSpecs", cluster["workerGroupSpecs"], "template");
  }

  // Of Kubeflow: spec.pytorchReplicaSpecs.Worker.template.
  void add_replica_specs() {
    for (const auto& [key, roles] : spec_.fields) {
      if (!key.ends_with("ReplicaSpecs")) continue;
      for (const auto& [role, replica_spec] : roles.fields) {
        add(fmt::format("/spec/{}/{}/template", pointer_key(key), pointer_key(role)),
            replica_spec["template"]);
      }
    }
  }

  const DocumentNode& object_;
  const DocumentNode& spec_;
  std::vector<PodPlace> places_;
};

}  // namespace

std::vector<PodPlace> find_pod_places(const DocumentNode& object) {
  return PodPlaceFinder(object).run();
}

std::string pointer_key(std::string_view key) {
  std::string text;
  for (const char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace pennyweight::manifests
