// EstimateComparison: what a change adds to the cost, workload by workload.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "insight/guardrails/estimate.h"

namespace pennyweight::guardrails {

struct WorkloadDifference {
  enum class Change { kAdded, kRemoved, kChanged, kSame };
  Change change = Change::kSame;
  std::string title;                     // "Deployment ml/vllm"
  std::optional<EstimateTotals> before;  // absent: added
  std::optional<EstimateTotals> after;   // absent: removed
};

struct EstimateComparison {
  Currency currency = kUsd;
  std::vector<WorkloadDifference> workloads;  // by title; of equal titles in the order of the files
  EstimateTotals before;
  EstimateTotals after;
};

std::string_view to_text(WorkloadDifference::Change change);  // "added"

// Workloads are the same where kind, namespace and name are; the file does not matter. REQUIRES:
// both are in one currency.
EstimateComparison compare_estimates(const Estimate& before, const Estimate& after);

}  // namespace pennyweight::guardrails
