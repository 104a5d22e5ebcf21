#include "allocation/owner_totals.h"

#include <algorithm>

#include "core/check.h"

namespace pennyweight {
namespace {

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15;
  return value ^ (value >> 29);
}

Weight weight_of_cost(Money cost) {
  return cost.is_negative() ? 0 : static_cast<Weight>(cost.ticks());
}

}  // namespace

// The hash leaves out the currency: a month rarely has two.
std::size_t OwnerTotals::KeyHash::operator()(const Key& key) const {
  const std::uint64_t who = (std::uint64_t{key.area} << 32) | key.owner;
  return mixed(mixed(who) + static_cast<std::uint32_t>(key.day));
}

std::int32_t OwnerTotals::day_key(std::chrono::sys_days day) const {
  switch (over_) {
    case SpreadOver::kDay:
      return static_cast<std::int32_t>(day.time_since_epoch().count());
    case SpreadOver::kMonth:
      return 0;
  }
  return 0;
}

void OwnerTotals::add(AreaNumber area, std::chrono::sys_days day, OwnerNumber owner,
                      Component component, Money effective, GpuTime gpu_time,
                      MemoryTime memory_time) {
  const Currency currency = effective.currency();
  const Money none = Money::zero(currency);
  const Key key{area, day_key(day), owner, currency};
  Sums& sums = adding_.try_emplace(key, Sums{none, none, none, none, {}, {}}).first->second;
  switch (component) {
    case Component::kGpu:
    case Component::kWhole:
      sums.gpu += effective;
      break;
    case Component::kCpu:
      sums.cpu += effective;
      break;
    case Component::kMemory:
      sums.memory += effective;
      break;
  }
  sums.all += effective;
  sums.gpu_time += gpu_time;
  sums.memory_time += memory_time;
}

void OwnerTotals::close() {
  sums_.assign(adding_.begin(), adding_.end());
  adding_.clear();
  std::sort(sums_.begin(), sums_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

std::optional<Money> OwnerTotals::cost_of(const Sums& sums, Component component,
                                          SpreadMeasure measure) {
  switch (measure) {
    case SpreadMeasure::kGpuCost:
      return sums.gpu;
    case SpreadMeasure::kCpuCost:
      return sums.cpu;
    case SpreadMeasure::kCost:
    case SpreadMeasure::kNamed:
      return sums.all;
    case SpreadMeasure::kComponentCost:
      switch (component) {
        case Component::kGpu:
          return sums.gpu;
        case Component::kCpu:
          return sums.cpu;
        case Component::kMemory:
          return sums.memory;
        case Component::kWhole:
          return sums.all;
      }
      return std::nullopt;
    case SpreadMeasure::kGpuTime:
    case SpreadMeasure::kMemoryTime:
      return std::nullopt;
  }
  return std::nullopt;
}

std::vector<OwnerWeight> OwnerTotals::weights(AreaNumber area, std::chrono::sys_days day,
                                              Component component, Currency currency,
                                              SpreadMeasure measure) const {
  const std::pair wanted(area, day_key(day));
  const auto place_and_day = [](const Key& key) { return std::pair(key.area, key.day); };
  auto entry = std::lower_bound(
      sums_.begin(), sums_.end(), wanted,
      [&](const auto& sums, const auto& pair) { return place_and_day(sums.first) < pair; });
  std::vector<OwnerWeight> weights;
  for (; entry != sums_.end() && place_and_day(entry->first) == wanted; ++entry) {
    const auto& [key, sums] = *entry;
    Weight weight =
        measure == SpreadMeasure::kGpuTime ? sums.gpu_time.count() : sums.memory_time.count();
    if (const auto cost = cost_of(sums, component, measure)) {
      weight = key.currency == currency ? weight_of_cost(*cost) : 0;
    }
    if (weight == 0) continue;
    if (!weights.empty() && weights.back().owner == key.owner) {
      weights.back().weight += weight;  // time on charges in another currency
    } else {
      weights.push_back({key.owner, weight});
    }
  }
  return weights;
}

// Cost without a node or pool is spread over the cluster, so every rule needs that table too.
AllOwnerTotals::AllOwnerTotals(const DistributionInput& input, const Owners& owners,
                               const SpreadRules& rules, SpreadAreas& areas)
    : rules_(rules) {
  for (const SpreadRule& rule : rules.all()) {
    if (rule.how == Spread::kKeep) continue;
    need(rules.within(rule), rule.over);
    need(SpreadWithin::kCluster, rule.over);
  }
  for (const Posting& posting : input.postings) {
    if (!is_held(posting)) continue;
    const OwnerNumber owner = owners.of_workload(posting.workload);
    for (Table& table : tables_) {
      const AreaNumber area = areas[table.within].area_of(posting);
      if (area == kWholeCluster && table.within != SpreadWithin::kCluster) continue;
      table.paid.add(area, posting.day, owner, posting.component, posting.costs.effective,
                     posting.gpu_time, posting.memory_time);
    }
  }
  for (const DistributionInput::OtherScopeCost& paid : input.other_scopes) {
    const OwnerNumber owner = owners.number_of(paid.owner);
    for (Table& table : tables_) {
      if (table.within != SpreadWithin::kCluster) continue;
      table.paid.add(kWholeCluster, paid.day, owner, paid.component, paid.effective, paid.gpu_time,
                     paid.memory_time);
    }
  }
  for (Table& table : tables_) table.paid.close();
}

void AllOwnerTotals::need(SpreadWithin within, SpreadOver over) {
  for (const Table& table : tables_) {
    if (table.within == within && table.over == over) return;
  }
  tables_.push_back({within, over, OwnerTotals(over)});
}

std::vector<OwnerWeight> AllOwnerTotals::weights(const Bucket& bucket) const {
  const SpreadRule& rule = rules_[bucket.key.rule];
  const SpreadWithin within =
      bucket.key.area == kWholeCluster ? SpreadWithin::kCluster : rules_.within(rule);
  for (const Table& table : tables_) {
    if (table.within != within || table.over != rule.over) continue;
    return table.paid.weights(bucket.key.area, bucket.key.day, bucket.key.component,
                              bucket.key.currency, rule.measure);
  }
  CHECK(false, "every rule that moves something has its tables");
  return {};
}

}  // namespace pennyweight
