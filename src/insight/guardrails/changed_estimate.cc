#include "insight/guardrails/changed_estimate.h"

namespace pennyweight::guardrails {

Result<Estimate> estimate_changed(const Estimate& arrived, std::span<const GuardrailRule> rules,
                                  const Catalog& catalog, const EstimateOptions& options,
                                  Date today) {
  manifests::ManifestReading reading{.unpriced = arrived.unpriced,
                                     .without_cost = arrived.without_cost};
  bool is_changed = false;
  for (const WorkloadEstimate& workload : arrived.workloads) {
    const auto changes = changes_of(workload, rules, arrived.currency, today);
    reading.workloads.push_back(workload.workload);
    apply_changes(changes, reading.workloads.back());
    is_changed = is_changed || !changes.empty();
  }
  if (!is_changed) return arrived;
  return estimate_workloads(reading, catalog, options);
}

}  // namespace pennyweight::guardrails
