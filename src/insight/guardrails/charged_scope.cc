#include "insight/guardrails/charged_scope.h"

#include <algorithm>
#include <tuple>

#include "core/label.h"
#include "ingest/manifests/slurm_job.h"

namespace pennyweight::guardrails {
namespace {

// What the ledger's labels of a pod say besides the labels of the pod, and Slurm of a job.
constexpr std::string_view kPodFacts[] = {"pod",
                                          "node",
                                          "service_account",
                                          "priority_class",
                                          "image",
                                          "phase",
                                          "owner_kind",
                                          "owner_name",
                                          "workload_type",
                                          "job",
                                          "job_kind",
                                          "queue",
                                          "ray_cluster",
                                          "argo_workflow",
                                          "kserve_service",
                                          "jobset",
                                          "notebook",
                                          "notebook_user",
                                          "knative_service",
                                          "knative_revision",
                                          "namespace",
                                          "leader_worker_set"};
constexpr std::string_view kPodFactPrefixes[] = {"pod.label/", "owner.label/", "namespace.label/",
                                                 "annotation/"};

bool is_pod_fact(std::string_view key) {
  return std::ranges::find(kPodFacts, key) != std::end(kPodFacts) ||
         std::ranges::any_of(kPodFactPrefixes,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

}  // namespace

PlannedDimensions planned_dimensions(const PlannedWork& work, const Policy& policy) {
  Labels labels;
  // A label that the ledger could not keep is none there either.
  const auto set = [&](std::string_view key, std::string_view value) {
    std::ignore = labels.set(key, value);
  };
  for (const auto& [key, value] : work.labels) {
    // A label of a pod does not pass for a fact about it.
    if (work.is_slurm_job || !is_pod_fact(key)) set(key, value);
  }
  if (work.is_slurm_job) {
    if (!work.name.empty()) set("job_name", work.name);
    if (!work.user.empty()) set("user", work.user);
  } else if (!work.name_space.empty()) {
    set("namespace", work.name_space);
  }
  return resolve_planned_dimensions(
      labels, work.is_slurm_job ? manifests::is_slurm_job_fact : is_pod_fact, policy);
}

PlannedWork planned_whole(const manifests::WorkloadRequest& workload) {
  return {.is_slurm_job = workload.kind == "Slurm job",
          .name_space = workload.name_space,
          .name = workload.name,
          .user = workload.user,
          .labels = workload.labels};
}

std::vector<PlannedGroup> planned_groups(const manifests::WorkloadRequest& workload) {
  std::vector<PlannedGroup> planned;
  std::vector<bool> is_of_part(workload.groups.size(), false);
  const auto add = [&](std::size_t index, std::string_view kind, std::string_view name_space,
                       std::string_view name, const LabelMap& labels) {
    const auto& own = workload.groups[index].pod_labels;
    planned.push_back({.group = index,
                       .work = {.is_slurm_job = kind == "Slurm job",
                                .name_space = name_space,
                                .name = name,
                                .user = workload.user,
                                .labels = own ? *own : labels}});
  };
  for (const manifests::WorkloadPart& part : workload.parts) {
    for (const std::size_t index : part.groups) {
      if (index >= is_of_part.size()) continue;
      is_of_part[index] = true;
      add(index, part.kind, part.name_space, part.name, part.labels);
    }
  }
  for (std::size_t index = 0; index < is_of_part.size(); ++index) {
    if (is_of_part[index]) continue;
    add(index, workload.kind, workload.name_space, workload.name, workload.labels);
  }
  return planned;
}

Charged is_charged(const PlannedDimensions& dimensions, std::span<const BudgetScopeTerm> scope) {
  Charged charged = Charged::kYes;
  for (const BudgetScopeTerm& term : scope) {
    auto value = dimensions.known.find(term.dimension);
    if (!value && std::ranges::find(dimensions.unset, term.dimension) != dimensions.unset.end()) {
      value = "";
    }
    if (!value) {
      charged = Charged::kUnknown;
      continue;
    }
    const bool is_listed = std::ranges::find(term.values, *value) != term.values.end();
    if (is_listed == term.negate) return Charged::kNo;
  }
  return charged;
}

Charged is_charged(std::span<const PlannedDimensions> owners,
                   std::span<const BudgetScopeTerm> scope) {
  Charged charged = Charged::kNo;
  for (const PlannedDimensions& owner : owners) {
    const Charged own = is_charged(owner, scope);
    if (own == Charged::kYes) return own;
    if (own == Charged::kUnknown) charged = own;
  }
  return charged;
}

}  // namespace pennyweight::guardrails
