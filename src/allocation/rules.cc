#include "allocation/rules.h"

#include <algorithm>
#include <numeric>

#include "core/gpu/gpu_model.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kSumMax = std::uint64_t{1} << 31;

std::uint64_t sum_of(const ShareWeights& weights) {
  return std::uint64_t{weights.compute} + weights.memory;
}

std::string model_name(const std::string& reported) {
  const GpuModel* model = find_gpu_model(reported);
  return model != nullptr ? model->name : reported;
}

}  // namespace

std::optional<std::string_view> policy_label(const Holding& holding, std::string_view key) {
  // As in owner rules (dimensions.h), these names hide labels of the same name.
  if (key == "workload") return holding.workload.text();
  if (key == "cluster") return holding.cluster.text();
  return holding.labels.find(key);
}

Result<SharingRules> SharingRules::of(const Policy& policy, const ClusterId& cluster,
                                      const Fleet& fleet,
                                      std::span<const Holding* const> holdings) {
  SharingRules rules;
  rules.sum_ = sum_of(policy.weights);
  for (const SharingRule& rule : policy.sharing) {
    if (!rule.weights) continue;
    if (sum_of(*rule.weights) == 0) {
      return fail(ErrorCode::kConfig, "policy.sharing: compute and memory can't both weigh 0");
    }
    rules.sum_ = std::lcm(rules.sum_, sum_of(*rule.weights));
    if (rules.sum_ >= kSumMax) {
      return fail(ErrorCode::kConfig,
                  "policy.sharing: the sums of the weights have no common multiple below 2^31; let "
                  "compute and memory add up to the same everywhere, such as 1000");
    }
  }
  const auto unit_weights = [&](const ShareWeights& weights) {
    const std::uint64_t factor = rules.sum_ / sum_of(weights);
    return UnitWeights{weights.compute * factor, weights.memory * factor};
  };

  // The class of a workload is the set of workload conditions that it meets.
  const auto class_of = [&](const Holding& holding) {
    std::vector<bool> met;
    for (const SharingRule& rule : policy.sharing) {
      met.push_back(!rule.workload.empty() && matches_all(rule.workload, [&](std::string_view key) {
        return policy_label(holding, key);
      }));
    }
    return met;
  };
  std::map<std::vector<bool>, std::uint32_t> classes = {
      {std::vector<bool>(policy.sharing.size(), false), 0}};
  const bool asks_workloads =
      std::any_of(policy.sharing.begin(), policy.sharing.end(),
                  [](const SharingRule& rule) { return !rule.workload.empty(); });
  rules.class_of_holding_.assign(holdings.size(), 0);
  for (std::size_t i = 0; asks_workloads && i < holdings.size(); ++i) {
    const auto [workload_class, is_new] =
        classes.try_emplace(class_of(*holdings[i]), static_cast<std::uint32_t>(classes.size()));
    rules.class_of_holding_[i] = workload_class->second;
  }
  rules.classes_ = classes.size();

  std::map<std::string, std::size_t> models;
  for (const Fleet::Machine& machine : fleet.machines()) {
    const auto [model, is_new] =
        models.try_emplace(model_name(machine.shape.gpu_model), models.size());
    rules.model_of_machine_.push_back(model->second);
  }
  rules.rules_.resize(models.size() * classes.size());
  for (const auto& [model, m] : models) {
    for (const auto& [met, workload_class] : classes) {
      std::optional<ShareWeights> weights;
      std::optional<Basis> basis;
      for (std::size_t r = 0; r < policy.sharing.size(); ++r) {
        const SharingRule& rule = policy.sharing[r];
        if (!rule.cluster.empty() && !meets_pattern(cluster.text(), rule.cluster)) continue;
        if (!rule.gpu_model.empty() && model_name(rule.gpu_model) != model) continue;
        if (!rule.workload.empty() && !met[r]) continue;
        if (!weights) weights = rule.weights;
        if (!basis) basis = rule.basis;
      }
      rules.rules_[m * classes.size() + workload_class] = {
          basis.value_or(policy.basis), unit_weights(weights.value_or(policy.weights))};
    }
  }
  for (const Holding* holding : holdings) {
    rules.overhead_.push_back(matches_any(
        policy.overhead, [&](std::string_view key) { return policy_label(*holding, key); }));
  }
  return rules;
}

const Basis& SharingRules::basis(std::uint32_t machine, std::uint32_t holding) const {
  return rule(machine, class_of_holding_[holding]).basis;
}

const UnitWeights& SharingRules::weights(std::uint32_t machine, std::uint32_t holding) const {
  return rule(machine, class_of_holding_[holding]).weights;
}

const UnitWeights& SharingRules::weights(std::uint32_t machine) const {
  return rule(machine, 0).weights;
}

}  // namespace pennyweight
