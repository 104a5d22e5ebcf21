// Findings: what an estimate says that somebody should act on, with the place in the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "insight/guardrails/comparison.h"
#include "insight/guardrails/estimate.h"

namespace pennyweight::guardrails {

// Amounts above which a change fails; absent: no limit. They are in the currency of the estimate.
struct EstimateLimits {
  std::optional<Money> per_hour = {};            // of all workloads together
  std::optional<Money> per_run = {};             // of each workload
  std::optional<Money> per_month = {};           // of all workloads together
  std::optional<Money> increase_per_month = {};  // against the base
  bool refuses_unpriced = false;                 // what can't be priced fails too
};

struct Finding {
  enum class Rule { kPerHour, kPerRun, kPerMonth, kIncrease, kNotPriced };
  Rule rule;
  bool fails = false;  // else it is a remark
  std::string file;    // empty: all files together
  int line = 1;
  std::string about;  // "Deployment vllm"
  std::string message;
};

// "cost-per-hour", "cost-per-run", "cost-per-month", "cost-increase", "not-priced"
std::string_view rule_id(Finding::Rule rule);

// What has no price, of rule kNotPriced; the message is the reason alone.
std::vector<Finding> find_unpriced(const Estimate& estimate);

// `comparison` may be null; kIncrease then finds nothing. A workload with a part that is not priced
// never passes a limit on the ground of that part being 0: the finding kNotPriced says so.
std::vector<Finding> find_problems(const Estimate& estimate, const EstimateComparison* comparison,
                                   const EstimateLimits& limits);

bool any_fails(const std::vector<Finding>& findings);

// "Deployment ml/vllm"
std::string workload_title(const manifests::WorkloadRequest& workload);

}  // namespace pennyweight::guardrails
