#include "insight/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/check.h"
#include "core/try.h"
#include "insight/compare/peer_costs.h"
#include "insight/compare/policy_steps.h"

namespace pennyweight {
namespace {

using Month = std::vector<MethodCosts>;  // by cluster

// What a preset does with a type of holding, in the words of the table.
std::string reason_of(Preset preset, std::string_view cause) {
  if (preset == Preset::kKoku && cause == kIdleCause) return "idle nodes dropped";
  for (const HoldingType how : kHoldingTypes) {
    if (cause != to_text(how) || how == HoldingType::kNoGpu) continue;
    const auto counted = [&]() -> std::string {
      switch (how) {
        case HoldingType::kWhole:
        case HoldingType::kReservation:
        case HoldingType::kNoGpu:
          return "";
        case HoldingType::kMig:
          return preset == Preset::kOpenCost ? " at 0"
                 : preset == Preset::kKoku   ? " by compute slices"
                                             : " not documented";
        case HoldingType::kRenamedReplica:
          return preset == Preset::kOpenCost ? " at 0"
                 : preset == Preset::kKoku   ? " as whole GPUs"
                                             : " not documented";
        case HoldingType::kReplica:
        case HoldingType::kVirtualGpu:
          return preset == Preset::kKoku && how == HoldingType::kVirtualGpu ? " not documented"
                                                                            : " as whole GPUs";
        case HoldingType::kFraction:
        case HoldingType::kSlurmShare:
        case HoldingType::kClaim:
          return preset == Preset::kOpenCost ? " at 0" : " not documented";
      }
      return "";
    };
    return std::string(cause) + counted();
  }
  return std::string(cause);
}

// Collects rows: a cell for each method, and an amount for each reason.
class Rows {
 public:
  Rows(const ComparisonInput& input, std::vector<std::string> reasons)
      : input_(input), reasons_(std::move(reasons)) {}

  void add_cost(std::size_t method, const Month& month) {
    each(month, [&](Cells& cells, const CostPart& part) { cells.costs[method] += part.cost; });
  }
  // Reasons that were not named at the start come after the others.
  void add_reason(const std::string& reason, const Month& month, bool negative) {
    each(month, [&](Cells& cells, const CostPart& part) { add_to(cells, reason, part, negative); });
  }
  template <class Name>
  void add_reasons_by_cause(const Month& month, bool negative, Name name) {
    each(month, [&](Cells& cells, const CostPart& part) {
      add_to(cells, name(part.cause), part, negative);
    });
  }

  std::vector<Comparison> comparisons() {
    std::map<Currency, Comparison> all;
    for (const ComparedCluster& cluster : input_.clusters) {
      for (const Charge& charge : cluster.facts.charges) {
        comparison_of(all, charge.costs.currency()).billed += charge.costs.*input_.cost;
      }
    }
    std::map<Currency, std::vector<bool>> matter;
    for (auto& [key, cells] : rows_) {
      cells.reasons.resize(reasons_.size(), Money::zero(key.currency));
      auto& seen = matter[key.currency];
      seen.resize(reasons_.size());
      for (std::size_t r = 0; r < reasons_.size(); ++r) {
        seen[r] = seen[r] || !cells.reasons[r].is_zero();
      }
    }
    for (auto& [key, cells] : rows_) {
      if (is_zero(cells.costs) && is_zero(cells.reasons)) continue;
      Comparison& comparison = comparison_of(all, key.currency);
      ComparedRow row{key.keys, key.bucket, std::move(cells.costs), {}};
      const auto& seen = matter[key.currency];
      for (std::size_t r = 0; r < reasons_.size(); ++r) {
        if (seen[r]) row.reasons.push_back(cells.reasons[r]);
      }
      comparison.rows.push_back(std::move(row));
    }
    std::vector<Comparison> result;
    for (auto& [currency, comparison] : all) {
      const auto& seen = matter[currency];
      for (std::size_t r = 0; r < seen.size(); ++r) {
        if (seen[r]) comparison.reasons.push_back(reasons_[r]);
      }
      finish(comparison);
      result.push_back(std::move(comparison));
    }
    return result;
  }

 private:
  struct Key {
    Currency currency;
    bool bucket;
    std::vector<std::string> keys;
    auto operator<=>(const Key&) const = default;
  };
  struct Cells {
    std::vector<Money> costs;
    std::vector<Money> reasons;
  };

  static bool is_zero(const std::vector<Money>& amounts) {
    return std::all_of(amounts.begin(), amounts.end(), [](Money m) { return m.is_zero(); });
  }

  template <class Do>
  void each(const Month& month, Do act) {
    for (const MethodCosts& divided : month) {
      for (const CostPart& part : divided.parts) {
        const Currency currency = part.cost.currency();
        Key key{currency, part.workload.empty(), keys_of(divided, part)};
        const auto row = rows_.try_emplace(
            std::move(key), Cells{std::vector(input_.methods.size(), Money::zero(currency)), {}});
        act(row.first->second, part);
      }
    }
  }

  void add_to(Cells& cells, const std::string& reason, const CostPart& part, bool negative) {
    auto found = std::find(reasons_.begin(), reasons_.end(), reason);
    if (found == reasons_.end()) found = reasons_.insert(reasons_.end(), reason);
    const auto index = static_cast<std::size_t>(found - reasons_.begin());
    if (cells.reasons.size() <= index) {
      cells.reasons.resize(index + 1, Money::zero(part.cost.currency()));
    }
    cells.reasons[index] += negative ? -part.cost : part.cost;
  }

  std::vector<std::string> keys_of(const MethodCosts& divided, const CostPart& part) const {
    const bool bucket = part.workload.empty();
    const std::string named = fmt::format("({})", part.bucket);
    std::vector<std::string> keys;
    for (const std::string& dimension : input_.by) {
      if (dimension == "cluster") {
        keys.push_back(divided.cluster.empty() ? "(no cluster)" : divided.cluster.text());
      } else if (dimension == "node") {
        keys.push_back(part.node.empty() ? "(no one node)" : part.node.text());
      } else if (dimension == "kind") {
        keys.push_back(bucket ? named : "held");
      } else if (bucket) {
        keys.push_back(named);
      } else if (dimension == "workload") {
        keys.push_back(part.workload.text());
      } else {
        const auto owner = divided.owners.find(part.workload);
        const auto value =
            owner == divided.owners.end() ? std::nullopt : owner->second.find(dimension);
        keys.push_back(value ? std::string(*value) : "(none)");
      }
    }
    return keys;
  }

  Comparison& comparison_of(std::map<Currency, Comparison>& all, Currency currency) const {
    const Money none = Money::zero(currency);
    const ComparedRow total{{}, false, std::vector(input_.methods.size(), none), {}};
    Comparison fresh{currency, {}, {}, {}, none, total};
    const auto [comparison, is_new] = all.try_emplace(currency, std::move(fresh));
    if (is_new) {
      for (const Method& method : input_.methods) comparison->second.methods.push_back(method.name);
    }
    return comparison->second;
  }

  void finish(Comparison& comparison) const {
    comparison.total.reasons.resize(comparison.reasons.size(), Money::zero(comparison.currency));
    for (const ComparedRow& row : comparison.rows) {
      for (std::size_t i = 0; i < row.costs.size(); ++i) comparison.total.costs[i] += row.costs[i];
      for (std::size_t i = 0; i < row.reasons.size(); ++i) {
        comparison.total.reasons[i] += row.reasons[i];
      }
    }
    if (comparison.methods.size() != 2) {
      std::stable_sort(comparison.rows.begin(), comparison.rows.end(), comes_by_key);
      return;
    }
    std::stable_sort(comparison.rows.begin(), comparison.rows.end(),
                     [](const ComparedRow& a, const ComparedRow& b) {
                       if (a.bucket != b.bucket) return b.bucket;
                       const auto size = [](Money m) { return m.is_negative() ? -m : m; };
                       return size(a.difference()).ticks() > size(b.difference()).ticks();
                     });
    for (const ComparedRow& row : comparison.rows) {
      Money sum = Money::zero(comparison.currency);
      for (const Money& reason : row.reasons) sum += reason;
      CHECK(sum == row.difference(), "the reasons of a difference add up to it");
    }
  }

  // By key; rows without an owner come last.
  static bool comes_by_key(const ComparedRow& a, const ComparedRow& b) {
    for (std::size_t i = 0; i < a.keys.size(); ++i) {
      const bool a_is_bucket = a.keys[i].starts_with('(');
      const bool b_is_bucket = b.keys[i].starts_with('(');
      if (a_is_bucket != b_is_bucket) return b_is_bucket;
      if (a.keys[i] != b.keys[i]) return a.keys[i] < b.keys[i];
    }
    return false;
  }

  const ComparisonInput& input_;
  std::vector<std::string> reasons_;
  std::map<Key, Cells> rows_;
};

class Comparer {
 public:
  explicit Comparer(const ComparisonInput& input)
      : input_(input),
        options_{.month = input.month, .cost = input.cost, .threads = input.threads},
        rows_(input, {}) {}

  Result<std::vector<Comparison>> run() {
    for (std::size_t i = 0; i < input_.methods.size(); ++i) {
      const auto month = TRY(divided_by(input_.methods[i]));
      rows_.add_cost(i, month);
      months_.push_back(month);
    }
    if (input_.methods.size() == 2) {
      TRY(explain());
    }
    return rows_.comparisons();
  }

 private:
  const Policy* policy_of(std::size_t method) const {
    return std::get_if<Policy>(&input_.methods[method].rule);
  }

  Result<Month> divided_by(const Method& method) {
    if (const Policy* policy = std::get_if<Policy>(&method.rule)) {
      return policy_costs(input_.clusters, *policy, options_);
    }
    if (owners_.empty()) {
      auto owners = policy_costs(input_.clusters, input_.owners, options_);
      if (!owners) return owners;
      owners_ = std::move(*owners);
    }
    Month month;
    std::vector<std::set<FactId>> left_out;
    for (std::size_t i = 0; i < input_.clusters.size(); ++i) {
      const ClusterMonth& facts = input_.clusters[i].facts;
      PeerCosts costs = peer_costs(std::get<Preset>(method.rule), facts, input_.cost);
      month.push_back({facts.cluster, std::move(costs.parts), owners_[i].owners});
      auto& out = left_out.emplace_back();
      for (std::size_t c = 0; c < facts.charges.size(); ++c) {
        if (!costs.covered[c]) out.insert(facts.charges[c].id);
      }
    }
    left_out_ = std::move(left_out);
    return month;
  }

  Result<void> explain() {
    const Policy* a = policy_of(0);
    const Policy* b = policy_of(1);
    if (a != nullptr && b != nullptr) {
      std::ignore = TRY(explain_policies(months_[0], *a, *b, false));
      return {};
    }
    if (a != nullptr) return explain_preset(0, 1, false);
    if (b != nullptr) return explain_preset(1, 0, true);
    const auto by_cause = [](std::string_view cause) { return std::string(cause); };
    rows_.add_reasons_by_cause(months_[1], false, by_cause);
    rows_.add_reasons_by_cause(months_[0], true, by_cause);
    return {};
  }

  // Explains the steps from one policy to another, each as a reason, and returns the last one's
  // month.
  Result<Month> explain_policies(const Month& first, const Policy& from, const Policy& to,
                                 bool turned) {
    Month before = first;
    PolicyCostsOptions options = options_;
    options.left_out = left_out_;
    for (const PolicyStep& step : policy_steps(from, to)) {
      auto after = policy_costs(input_.clusters, step.policy, options);
      if (!after) return after;
      rows_.add_reason(std::string(step.reason), *after, turned);
      rows_.add_reason(std::string(step.reason), before, !turned);
      before = std::move(*after);
    }
    return before;
  }

  // Explains the way from a policy to the one closest to the preset, rule by rule. The rest is what
  // the preset does differently, by type of holding. `turned`: the preset is the first method.
  Result<void> explain_preset(std::size_t policy, std::size_t preset, bool turned) {
    const Policy& from = *policy_of(policy);
    const Preset which = std::get<Preset>(input_.methods[preset].rule);
    // Run once more, now that the charges that the preset leaves out are known.
    PolicyCostsOptions options = options_;
    options.left_out = left_out_;
    const auto first = TRY(policy_costs(input_.clusters, from, options));
    const auto nearest = TRY(explain_policies(first, from, nearest_policy(which, from), turned));
    const auto by_cause = [which](std::string_view cause) { return reason_of(which, cause); };
    rows_.add_reasons_by_cause(months_[preset], turned, by_cause);
    rows_.add_reasons_by_cause(nearest, !turned, by_cause);
    return {};
  }

  const ComparisonInput& input_;
  const PolicyCostsOptions options_;
  Rows rows_;
  std::vector<Month> months_;
  Month owners_;
  std::vector<std::set<FactId>> left_out_;  // of the last preset
};

}  // namespace

bool is_comparable(std::string_view dimension, const Policy& policy) {
  if (dimension == "cluster" || dimension == "node" || dimension == "kind" ||
      dimension == "workload") {
    return true;
  }
  for (const DimensionRule& rule : policy.dimensions) {
    if (rule.dimension == dimension) return true;
  }
  for (const OwnerRule& rule : policy.owners) {
    for (const auto& [set, value] : rule.set) {
      if (set == dimension) return true;
    }
  }
  return false;
}

Result<std::vector<Comparison>> compare(const ComparisonInput& input) {
  CHECK(!input.methods.empty(), "there is something to compare");
  return Comparer(input).run();
}

}  // namespace pennyweight
