// OwnerTotals: what each owner paid and held in each area, by day or over the month.
//
// All are sums of whole numbers, so the order in which postings are added does not matter.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocation/buckets.h"
#include "allocation/distribute.h"
#include "allocation/owners.h"
#include "allocation/policy/policy.h"
#include "core/money.h"
#include "core/quantity.h"
#include "core/split.h"

namespace pennyweight {

struct OwnerWeight {
  OwnerNumber owner;
  Weight weight;
};

class OwnerTotals {
 public:
  explicit OwnerTotals(SpreadOver over) : over_(over) {}

  void add(AreaNumber area, std::chrono::sys_days day, OwnerNumber owner, Component component,
           Money effective, GpuTime gpu_time, MemoryTime memory_time);
  // Must be called after the last add() and before weights().
  void close();
  // The owners with a weight for a bucket of this component and currency. A named measure comes
  // from the policy instead, so here it counts as cost.
  std::vector<OwnerWeight> weights(AreaNumber area, std::chrono::sys_days day, Component component,
                                   Currency currency, SpreadMeasure measure) const;

 private:
  struct Key {
    AreaNumber area;
    std::int32_t day;  // 0: over the month
    OwnerNumber owner;
    Currency currency;
    auto operator<=>(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Sums {
    Money gpu;  // with cost that is not divided into components
    Money cpu;
    Money memory;
    Money all;
    GpuTime gpu_time;
    MemoryTime memory_time;
  };
  std::int32_t day_key(std::chrono::sys_days day) const;
  // Absent where the measure is not a cost.
  static std::optional<Money> cost_of(const Sums& sums, Component component, SpreadMeasure measure);

  SpreadOver over_;
  std::unordered_map<Key, Sums, KeyHash> adding_;
  std::vector<std::pair<Key, Sums>> sums_;  // by key, after close()
};

// The totals that the spread rules of a policy need.
class AllOwnerTotals {
 public:
  AllOwnerTotals(const DistributionInput& input, const Owners& owners, const SpreadRules& rules,
                 SpreadAreas& areas);
  // The owners that bear a bucket, by owner.
  std::vector<OwnerWeight> weights(const Bucket& bucket) const;

 private:
  struct Table {
    SpreadWithin within;
    SpreadOver over;
    OwnerTotals paid;
  };
  void need(SpreadWithin within, SpreadOver over);

  const SpreadRules& rules_;
  std::vector<Table> tables_;
};

}  // namespace pennyweight
