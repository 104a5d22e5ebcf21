#include "allocation/policy/unreachable.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

namespace pennyweight {
namespace {

// Whether everything that matches `narrow` matches `wide`. Empty matches everything.
bool covers(std::string_view wide, std::string_view narrow) {
  if (wide.empty()) return true;
  // As texts: "p5.*" begins with "p5.", as everything that it matches does.
  return !narrow.empty() && meets_pattern(narrow, wide);
}

// All conditions must hold, so fewer conditions match more.
bool covers(const std::vector<LabelMatch>& wide, const std::vector<LabelMatch>& narrow) {
  return std::all_of(wide.begin(), wide.end(), [&](const LabelMatch& match) {
    return std::find(narrow.begin(), narrow.end(), match) != narrow.end();
  });
}

bool covers(const SharingRule& wide, const SharingRule& narrow) {
  return covers(wide.cluster, narrow.cluster) && covers(wide.gpu_model, narrow.gpu_model) &&
         covers(wide.workload, narrow.workload) && (wide.basis || !narrow.basis) &&
         (wide.weights || !narrow.weights);
}

bool covers(const NodeSplitRule& wide, const NodeSplitRule& narrow) {
  return covers(wide.instance_type, narrow.instance_type);
}

bool covers(const SpreadRule& wide, const SpreadRule& narrow) {
  return wide.kind == narrow.kind && covers(wide.service_category, narrow.service_category) &&
         covers(wide.service_name, narrow.service_name) &&
         covers(wide.charge_category, narrow.charge_category);
}

// A dimension that was set stays, so the earlier rule must set all that the later one would.
bool covers(const OwnerRule& wide, const OwnerRule& narrow) {
  return covers(wide.when, narrow.when) &&
         std::all_of(narrow.set.begin(), narrow.set.end(), [&](const auto& later) {
           return std::any_of(wide.set.begin(), wide.set.end(),
                              [&](const auto& first) { return first.first == later.first; });
         });
}

// One match is enough here.
bool covers(const LabelMatch& wide, const LabelMatch& narrow) {
  if (wide.key != narrow.key) return false;
  if (wide.op == LabelMatch::Op::kExists) return narrow.op != LabelMatch::Op::kAbsent;
  if (wide.op != LabelMatch::Op::kIn || narrow.op != LabelMatch::Op::kIn) return wide == narrow;
  return std::all_of(narrow.values.begin(), narrow.values.end(), [&](const std::string& value) {
    return std::any_of(wide.values.begin(), wide.values.end(),
                       [&](const std::string& first) { return covers(first, value); });
  });
}

template <class Rule>
void find_in(UnreachableRule::List list, const std::vector<Rule>& rules,
             const std::vector<std::size_t>& order, std::vector<UnreachableRule>& found) {
  const std::size_t before = found.size();
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!covers(rules[order[j]], rules[order[i]])) continue;
      found.push_back({list, order[i], order[j]});
      break;
    }
  }
  std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
            [](const UnreachableRule& a, const UnreachableRule& b) { return a.rule < b.rule; });
}

template <class Rule>
std::vector<std::size_t> as_written(const std::vector<Rule>& rules) {
  std::vector<std::size_t> order(rules.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

}  // namespace

std::vector<UnreachableRule> unreachable_rules(const Policy& policy) {
  using List = UnreachableRule::List;
  std::vector<std::size_t> by_priority = as_written(policy.owners);
  std::stable_sort(by_priority.begin(), by_priority.end(), [&](std::size_t a, std::size_t b) {
    return policy.owners[a].priority > policy.owners[b].priority;
  });
  std::vector<UnreachableRule> found;
  find_in(List::kSharing, policy.sharing, as_written(policy.sharing), found);
  find_in(List::kNodeSplits, policy.node_splits, as_written(policy.node_splits), found);
  find_in(List::kOverhead, policy.overhead, as_written(policy.overhead), found);
  find_in(List::kSpread, policy.spread, as_written(policy.spread), found);
  find_in(List::kOwners, policy.owners, by_priority, found);
  return found;
}

}  // namespace pennyweight
