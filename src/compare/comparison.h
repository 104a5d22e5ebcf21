// Comparison: the same month divided by several methods, side by side, and why they differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compare/policy_costs.h"
#include "compare/preset.h"

namespace pennyweight {

// A way of dividing, with the name by which it is shown.
struct Method {
  std::string name;
  std::variant<Policy, Preset> rule;
};

struct ComparisonInput {
  std::string month;
  std::span<const ComparedCluster> clusters;
  std::vector<Method> methods;  // REQUIRES: at least one
  Policy owners;                // whose label rules name the owners where a preset divides
  std::vector<std::string> by;  // "cluster", "node", "workload", "kind", or a dimension
  Money Costs::* cost = &Costs::effective;
  unsigned threads = 1;
};

struct ComparedRow {
  std::vector<std::string> keys;  // as input.by; a bucket's name in parentheses: "(unallocated)"
  bool bucket = false;            // nobody's
  std::vector<Money> costs;       // by method
  std::vector<Money> reasons;     // as Comparison::reasons; they add up to costs[1] - costs[0]
  Money difference() const { return costs[1] - costs[0]; }
};

// All in one currency.
struct Comparison {
  Currency currency;
  std::vector<std::string> methods;
  // Of two methods only. For two policies the rules in which they differ, in the order of
  // policy_steps(); for a preset what it does with each way of holding a GPU.
  std::vector<std::string> reasons;
  std::vector<ComparedRow> rows;  // of two methods the largest difference first, buckets last;
                                  // of others key by key
  Money billed;                   // the month's bill lines
  ComparedRow total;
};

// Whether rows may be keyed by it: built in, or a dimension of the policy.
bool is_comparable(std::string_view dimension, const Policy& policy);

// ENSURES: in each row the reasons add up to the difference with ==, and a policy's costs add up to
// `billed` with ==. A preset's need not: that is what is shown.
Result<std::vector<Comparison>> compare(const ComparisonInput& input);

}  // namespace pennyweight
