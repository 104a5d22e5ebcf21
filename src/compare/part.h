// Part: one amount of a bill as some method divides it, whose it is, and on what account.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "core/id.h"
#include "core/label.h"
#include "core/money.h"

namespace pennyweight {

struct Part {
  WorkloadId workload;      // empty: nobody's
  NodeId node;              // empty: of no one node
  std::string_view bucket;  // of nobody's: "unallocated", "shared", …; a literal
  std::string_view cause;   // how it was held, or why it is nobody's; a literal
  Money cost;
};

// What one method makes of one cluster's month.
struct Divided {
  ClusterId cluster;
  std::vector<Part> parts;              // by workload, node, bucket, cause, currency: one each
  std::map<WorkloadId, Labels> owners;  // the dimensions of the workloads in them
};

// Adds amounts up by all that a part says, so that what comes out has a stable order.
class PartSum {
 public:
  void add(const Part& part) {
    const Key key{part.workload, part.node, part.bucket, part.cause, part.cost.currency()};
    const auto [sum, fresh] = sums_.try_emplace(key, part.cost);
    if (!fresh) sum->second += part.cost;
  }
  std::vector<Part> parts() const {
    std::vector<Part> parts;
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

// Causes that are not ways of holding.
inline constexpr std::string_view kIdle = "idle";
inline constexpr std::string_view kNegativeIdle = "negative idle";  // its bucket as well
inline constexpr std::string_view kLeftOut = "bill lines left out";
inline constexpr std::string_view kUndocumented = "not documented";
inline constexpr std::string_view kMoved = "corrections";

}  // namespace pennyweight
