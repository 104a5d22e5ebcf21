// SharingRules: the basis, weights and overhead of a policy, looked up by holder and machine.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "allocation/fleet_index.h"
#include "allocation/policy/policy.h"
#include "core/error.h"
#include "ledger/holding.h"

namespace pennyweight {

// Weights of one unit of compute and of memory. All weights of a run have the same sum, so that
// amounts under different rules can be compared.
struct UnitWeights {
  std::uint64_t compute = 0;
  std::uint64_t memory = 0;
  bool operator==(const UnitWeights&) const = default;
};

class SharingRules {
 public:
  // Fails where the policy's weights have no common sum below 2^31.
  static Result<SharingRules> of(const Policy& policy, const ClusterId& cluster, const Fleet& fleet,
                                 std::span<const Holding* const> holdings);

  // For a holder on a machine.
  const Basis& basis(std::uint32_t machine, std::uint32_t holding) const;
  const UnitWeights& weights(std::uint32_t machine, std::uint32_t holding) const;
  // For idle capacity of a machine: by the rules without a condition on workloads.
  const UnitWeights& weights(std::uint32_t machine) const;
  std::uint64_t weights_sum() const { return sum_; }
  // Whether holders of one machine may have different weights.
  bool differ_by_holder() const { return classes_ > 1; }
  bool is_overhead(std::uint32_t holding) const { return overhead_[holding]; }

 private:
  struct Rule {
    Basis basis;
    UnitWeights weights;
  };
  const Rule& rule(std::uint32_t machine, std::uint32_t workload_class) const {
    return rules_[model_of_machine_[machine] * classes_ + workload_class];
  }

  std::uint64_t sum_ = 0;
  std::size_t classes_ =
      1;  // classes of workloads that the rules distinguish; class 0: no such rule
  std::vector<std::uint32_t> class_of_holding_;
  std::vector<std::size_t> model_of_machine_;
  std::vector<Rule> rules_;  // by model, then class
  std::vector<bool> overhead_;
};

// A label of a workload as policies see it: its own labels, "workload" and "cluster".
std::optional<std::string_view> policy_label(const Holding& holding, std::string_view key);

}  // namespace pennyweight
