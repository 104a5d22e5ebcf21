#include "insight/guardrails/charged_scope.h"

#include <algorithm>
#include <tuple>

#include "core/label.h"

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
constexpr std::string_view kJobFacts[] = {"account",     "user",  "partition", "qos",
                                          "reservation", "wckey", "job_name",  "state"};

bool is_pod_fact(std::string_view key) {
  return std::ranges::find(kPodFacts, key) != std::end(kPodFacts) ||
         std::ranges::any_of(kPodFactPrefixes,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

bool is_job_fact(std::string_view key) {
  return std::ranges::find(kJobFacts, key) != std::end(kJobFacts);
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
  } else if (!work.name_space.empty()) {
    set("namespace", work.name_space);
  }
  return resolve_planned_dimensions(labels, work.is_slurm_job ? is_job_fact : is_pod_fact, policy);
}

PlannedDimensions planned_dimensions(const manifests::WorkloadRequest& work, const Policy& policy) {
  return planned_dimensions({.is_slurm_job = work.kind == "Slurm job",
                             .name_space = work.name_space,
                             .name = work.name,
                             .labels = work.labels},
                            policy);
}

Charged is_charged(const PlannedDimensions& dimensions, std::span<const BudgetScopeTerm> scope) {
  Charged charged = Charged::kYes;
  for (const BudgetScopeTerm& term : scope) {
    const auto value = dimensions.known.find(term.dimension);
    if (!value) {
      charged = Charged::kUnknown;
      continue;
    }
    const bool is_listed = std::ranges::find(term.values, *value) != term.values.end();
    if (is_listed == term.negate) return Charged::kNo;
  }
  return charged;
}

}  // namespace pennyweight::guardrails
