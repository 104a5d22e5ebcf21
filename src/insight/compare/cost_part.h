// CostPart: one amount of a month as a method divides it, with its owner and cause.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "core/id.h"
#include "core/label.h"
#include "core/money.h"

namespace pennyweight {

struct CostPart {
  WorkloadId workload;      // empty: no workload
  NodeId node;              // empty: no single node
  std::string_view bucket;  // without a workload: "unallocated", "shared", …; a literal
  std::string_view cause;   // how it was held, or why no workload has it; a literal
  Money cost;
};

// What one method makes of one cluster's month.
struct MethodCosts {
  ClusterId cluster;
  std::vector<CostPart> parts;          // one for each workload, node, bucket, cause and currency,
                                        // in this order
  std::map<WorkloadId, Labels> owners;  // the dimensions of their workloads
};

// Adds up parts that differ in the amount only. The result has a stable order.
class CostPartSum {
 public:
  void add(const CostPart& part) {
    const Key key{part.workload, part.node, part.bucket, part.cause, part.cost.currency()};
    const auto [sum, fresh] = sums_.try_emplace(key, part.cost);
    if (!fresh) sum->second += part.cost;
  }
  std::vector<CostPart> parts() const {
    std::vector<CostPart> parts;
    for (const auto& [key, cost] : sums_) {
      parts.push_back({key.workload, key.node, key.bucket, key.cause, cost});
    }
    return parts;
  }

 private:
  struct Key {
    WorkloadId workload;
    NodeId node;
    std::string_view bucket;
    std::string_view cause;
    Currency currency;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, Money> sums_;
};

// Causes other than types of holding.
inline constexpr std::string_view kIdleCause = "idle";
inline constexpr std::string_view kNegativeIdleCause = "negative idle";  // its bucket as well
inline constexpr std::string_view kLeftOutCause = "bill lines left out";
inline constexpr std::string_view kUndocumentedCause = "not documented";
inline constexpr std::string_view kCorrectionsCause = "corrections";

}  // namespace pennyweight
