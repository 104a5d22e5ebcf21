// RuleContext: what rules look at beside the workload: the day, the time on the wall, how much of
// the budgets is used, and what else is in the cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/money.h"
#include "core/week_hours.h"
#include "ingest/manifests/cluster_objects.h"
#include "insight/guardrails/charged_scope.h"

namespace pennyweight::guardrails {

// How far a budget has come in its period.
struct BudgetUse {
  std::string name;
  std::vector<BudgetScopeTerm> scope = {};  // all of them
  Money amount = Money::zero(kUsd);
  std::optional<Money> left = {};  // below 0 where it is exceeded; absent: not measured
  std::string problem = {};        // why it is not measured
  bool operator==(const BudgetUse&) const = default;

  // More than so many thousandths of it are spent. REQUIRES: it is measured.
  bool is_used_above(std::uint32_t permille) const;
};

struct RuleContext {
  Date today = {};  // for exemptions
  // In the zone of the configuration. Absent: not known, so that every condition on it is met, but
  // in exemptions and for the effect kAllow, where none is.
  std::optional<WallTime> now = {};
  std::span<const BudgetUse> budgets = {};
  std::string_view budgets_problem = {};  // why no budget is known; conditions as with `now`
  // By whose dimensions budgets count. Null: no budget has a filter.
  const Policy* policy = nullptr;
  // What is known of the cluster. Null: nothing.
  const manifests::ClusterObjects* cluster = nullptr;
};

}  // namespace pennyweight::guardrails
