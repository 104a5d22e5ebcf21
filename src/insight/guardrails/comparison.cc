#include "insight/guardrails/comparison.h"

#include <map>
#include <utility>

#include "core/check.h"
#include "insight/guardrails/findings.h"

namespace pennyweight::guardrails {
namespace {

// Two workloads of one title are told apart by their order.
using WorkloadKey = std::pair<std::string, std::size_t>;
using TotalsByKey = std::map<WorkloadKey, EstimateTotals>;

TotalsByKey totals_by_key(const Estimate& estimate) {
  TotalsByKey totals;
  std::map<std::string, std::size_t> seen;
  for (const WorkloadEstimate& workload : estimate.workloads) {
    std::string title = workload_title(workload.workload);
    const std::size_t nth = seen[title]++;
    totals.emplace(WorkloadKey(std::move(title), nth), totals_of(workload, estimate.currency));
  }
  return totals;
}

}  // namespace

std::string_view to_text(WorkloadDifference::Change change) {
  switch (change) {
    case WorkloadDifference::Change::kAdded:
      return "added";
    case WorkloadDifference::Change::kRemoved:
      return "removed";
    case WorkloadDifference::Change::kChanged:
      return "changed";
    case WorkloadDifference::Change::kSame:
      return "same";
  }
  return "";
}

EstimateComparison compare_estimates(const Estimate& before, const Estimate& after) {
  CHECK(before.currency == after.currency, "estimates of two currencies don't compare");
  EstimateComparison comparison{.currency = after.currency,
                                .workloads = {},
                                .before = before.totals(),
                                .after = after.totals()};
  const TotalsByKey old_totals = totals_by_key(before);
  const TotalsByKey new_totals = totals_by_key(after);
  std::map<WorkloadKey, WorkloadDifference> differences;
  for (const auto& [key, totals] : old_totals) {
    differences[key] = {WorkloadDifference::Change::kRemoved, key.first, totals, std::nullopt};
  }
  for (const auto& [key, totals] : new_totals) {
    WorkloadDifference& difference = differences[key];
    difference.title = key.first;
    difference.after = totals;
    if (!difference.before) {
      difference.change = WorkloadDifference::Change::kAdded;
    } else {
      difference.change = *difference.before == totals ? WorkloadDifference::Change::kSame
                                                       : WorkloadDifference::Change::kChanged;
    }
  }
  for (auto& [key, difference] : differences) {
    comparison.workloads.push_back(std::move(difference));
  }
  return comparison;
}

}  // namespace pennyweight::guardrails
