// SharingRules: a policy's basis, weights and overhead, ready to be asked for each holder.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "allocate/fleet_index.h"
#include "core/error.h"
#include "ledger/holding.h"
#include "policy/policy.h"

namespace pennyweight {

// Weights of one unit of compute and of memory. All of a run have the same sum, so that amounts
// under different rules can be compared.
struct UnitWeights {
  std::uint64_t compute = 0;
  std::uint64_t memory = 0;
  bool operator==(const UnitWeights&) const = default;
};

class SharingRules {
 public:
  // An error where the policy's weights have no common sum below 2^31.
  static Result<SharingRules> of(const Policy& policy, const ClusterId& cluster, const Fleet& fleet,
                                 std::span<const Holding* const> holdings);

  // Of a holder on a machine.
  const Basis& basis(std::uint32_t machine, std::uint32_t holding) const;
  const UnitWeights& weights(std::uint32_t machine, std::uint32_t holding) const;
  // Of what nobody holds on a machine: by the rules that ask nothing of a workload.
  const UnitWeights& weights(std::uint32_t machine) const;
  std::uint64_t weights_sum() const { return sum_; }
  // Holders of one machine may have different weights.
  bool differ_by_holder() const { return kinds_ > 1; }
  bool is_overhead(std::uint32_t holding) const { return overhead_[holding]; }

 private:
  struct Rule {
    Basis basis;
    UnitWeights weights;
  };
  const Rule& rule(std::uint32_t machine, std::uint32_t kind) const {
    return rules_[model_of_machine_[machine] * kinds_ + kind];
  }

  std::uint64_t sum_ = 0;
  std::size_t kinds_ = 1;  // of workloads, as far as rules tell them apart; 0: those no rule names
  std::vector<std::uint32_t> kind_of_holding_;
  std::vector<std::size_t> model_of_machine_;
  std::vector<Rule> rules_;  // by model, then kind
  std::vector<bool> overhead_;
};

// A workload's labels as policies see them: its labels, "workload" and "cluster".
std::optional<std::string_view> label_of(const Holding& holding, std::string_view key);

}  // namespace pennyweight
