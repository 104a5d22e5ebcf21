// Compares several methods on the same month, side by side, and explains the differences.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "insight/compare/policy_costs.h"
#include "insight/compare/preset.h"

namespace pennyweight {

// A method of allocation, with its displayed name.
struct Method {
  std::string name;
  std::variant<Policy, Preset> rule;
};

struct ComparisonInput {
  std::string month;
  std::span<const ComparedCluster> clusters;
  std::vector<Method> methods;  // REQUIRES: at least one
  Policy owners;                // whose label rules name the owners under a preset
  std::vector<std::string> by;  // "cluster", "node", "workload", "kind", or a dimension
  Money Costs::* cost = &Costs::effective;
  unsigned threads = 1;
};

struct ComparedRow {
  std::vector<std::string> keys;  // as input.by; a bucket has its name in parentheses:
                                  // "(unallocated)"
  bool bucket = false;            // without an owner
  std::vector<Money> costs;       // by method
  std::vector<Money> reasons;     // as Comparison::reasons; they add up to costs[1] - costs[0]
  Money difference() const { return costs[1] - costs[0]; }
};

// All in one currency.
struct Comparison {
  Currency currency;
  std::vector<std::string> methods;
  // Only with two methods. For two policies: the rules that differ, in the order of policy_steps().
  // For a preset: what it does with each type of holding.
  std::vector<std::string> reasons;
  std::vector<ComparedRow> rows;  // of two methods the largest difference first, buckets last; of
                                  // others by key
  Money billed;                   // the month's charges
  ComparedRow total;
};

// Whether rows can be keyed by it: built in, or a dimension of the policy.
bool is_comparable(std::string_view dimension, const Policy& policy);

// ENSURES: in each row the reasons add up to the difference with ==, and a policy's costs add up to
// `billed` with ==. A preset's costs need not; the comparison shows by how much.
Result<std::vector<Comparison>> compare(const ComparisonInput& input);

}  // namespace pennyweight
