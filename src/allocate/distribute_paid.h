// PaidTable: what every owner paid and held in each place, on each day or in the whole month.
//
// Sums of whole numbers, so the order in which postings are added means nothing.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocate/distribute.h"
#include "allocate/distribute_buckets.h"
#include "allocate/distribute_owners.h"
#include "core/money.h"
#include "core/quantity.h"
#include "core/split.h"
#include "policy/policy.h"

namespace pennyweight {

struct OwnerWeight {
  OwnerNumber owner;
  Weight weight;
};

class PaidTable {
 public:
  explicit PaidTable(SpreadOver over) : over_(over) {}

  void add(PlaceNumber place, std::chrono::sys_days day, OwnerNumber owner, Component component,
           Money effective, GpuTime gpu_time, MemoryTime memory_time);
  // Ends the adding; weights() may be asked for from here on.
  void close();
  // Who weighs something for a bucket of a component and a currency, by owner. A named measure is
  // not the table's: it counts as cost.
  std::vector<OwnerWeight> weights(PlaceNumber place, std::chrono::sys_days day,
                                   Component component, Currency currency,
                                   SpreadMeasure measure) const;

 private:
  struct Key {
    PlaceNumber place;
    std::int32_t day;  // 0 over the month
    OwnerNumber owner;
    Currency currency;
    auto operator<=>(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Sums {
    Money gpu;  // with what was not divided into components
    Money cpu;
    Money memory;
    Money all;
    GpuTime gpu_time;
    MemoryTime memory_time;
  };
  std::int32_t day_key(std::chrono::sys_days day) const;
  // Nothing where the measure is no cost.
  static std::optional<Money> cost_of(const Sums& sums, Component component, SpreadMeasure measure);

  SpreadOver over_;
  std::unordered_map<Key, Sums, KeyHash> adding_;
  std::vector<std::pair<Key, Sums>> sums_;  // by key, once closed
};

// The tables that the rules of a policy need.
class PaidTables {
 public:
  PaidTables(const DistributionInput& input, const Owners& owners, const SpreadRules& rules,
             AllPlaces& places);
  // Who bears a bucket, by owner.
  std::vector<OwnerWeight> weights(const Bucket& bucket) const;

 private:
  struct Table {
    SpreadWithin within;
    SpreadOver over;
    PaidTable paid;
  };
  void need(SpreadWithin within, SpreadOver over);

  const SpreadRules& rules_;
  std::vector<Table> tables_;
};

}  // namespace pennyweight
