#include "insight/advice/fleet_hours.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "allocation/device_share.h"
#include "allocation/policy/label_match.h"
#include "allocation/rules.h"
#include "core/overloaded.h"

namespace pennyweight::advising {
namespace {

constexpr std::size_t kRecordsReachHours = 24;
// With so many a day at random, two days without any happen once in 22,000 times.
constexpr std::size_t kBeginsPerDayMin = 5;
constexpr std::chrono::milliseconds kHourMs = std::chrono::hours(1);

Instant hour_at_or_after(Instant at) { return std::chrono::ceil<std::chrono::hours>(at); }

struct PooledHolding {
  Interval held;
  std::uint64_t gpu_units;
  std::uint64_t cpu_milli;
  std::uint64_t memory_bytes;
};

// The largest sum of each amount within each hour.
class HourlyPeaks {
 public:
  HourlyPeaks(Instant begin, std::size_t hours) : begin_(begin), peaks_(hours) {}

  std::vector<std::uint64_t> of(const std::vector<PooledHolding>& holdings,
                                std::uint64_t PooledHolding::* amount) {
    std::vector<std::pair<Instant, std::pair<bool, std::uint64_t>>> events;
    for (const PooledHolding& holding : holdings) {
      if (holding.*amount == 0) continue;
      // At one instant, what ends comes before what begins.
      events.push_back({holding.held.begin(), {true, holding.*amount}});
      events.push_back({holding.held.end(), {false, holding.*amount}});
    }
    std::sort(events.begin(), events.end());
    std::fill(peaks_.begin(), peaks_.end(), 0);
    std::uint64_t level = 0;
    Instant since = begin_;
    for (const auto& [at, event] : events) {
      raise(since, at, level);
      level = event.first ? level + event.second : level - event.second;
      since = std::max(since, at);
    }
    return peaks_;
  }

 private:
  void raise(Instant from, Instant to, std::uint64_t level) {
    if (level == 0 || to <= begin_ || to <= from) return;
    auto hour = static_cast<std::size_t>((std::max(from, begin_) - begin_) / kHourMs);
    for (; hour < peaks_.size() && begin_ + kHourMs * static_cast<std::int64_t>(hour) < to;
         ++hour) {
      peaks_[hour] = std::max(peaks_[hour], level);
    }
  }

  Instant begin_;
  std::vector<std::uint64_t> peaks_;
};

// Where no table says what share of a GPU a device is, it counts as a whole one.
std::uint64_t gpu_units_of(const Holding& holding) {
  const auto share = device_share(holding.device, {.gpu_model = holding.gpu_model});
  const CardShare one = share ? std::max(share->compute, share->memory) : CardShare::whole();
  return one.units() * device_count(holding);
}

}  // namespace

FleetHours::FleetHours(const ClusterMonth& month, const FleetView& fleet,
                       std::span<const Outage> outages, const Policy& policy,
                       const Interval& period)
    : fleet_(fleet), begin_(hour_at_or_after(period.begin())) {
  const auto count = (period.end() - begin_) / kHourMs;
  const std::size_t hours = count > 0 ? static_cast<std::size_t>(count) : 0;
  const std::size_t nodes = fleet.nodes().size();
  there_.assign(nodes, HourFlags(hours));
  held_.assign(nodes, HourFlags(hours));
  pooled_.assign(nodes, false);
  HourFlags held(hours);
  HourFlags begun(hours);
  std::size_t begins = 0;
  std::size_t ends = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (const Node* fact : fleet.nodes()[node].facts) {
      const Instant end = fact->to.value_or(period.end());
      if (const auto during = Interval::of(fact->from, end)) mark(there_[node], *during);
    }
  }
  for (const Outage& outage : outages) {
    const auto node = fleet.node_of(outage.node);
    if (node) mark(held_[*node], outage.during);
  }
  std::vector<const Holding*> pooled;
  for (const Holding& holding : month.holdings) {
    mark(held, holding.held);
    if (begin_ <= holding.held.begin() && holding.held.begin() < period.end()) {
      mark(begun, {holding.held.begin(), holding.held.begin() + std::chrono::milliseconds(1)});
      ++begins;
    }
    ends += holding.ended && begin_ <= holding.held.end() && holding.held.end() < period.end();
    if (matches_any(policy.overhead,
                    [&](std::string_view key) { return policy_label(holding, key); })) {
      continue;
    }
    if (std::holds_alternative<InPool>(holding.placement)) {
      pooled.push_back(&holding);
    } else {
      add_named(holding);
    }
  }
  add_pooled(pooled);
  recorded_.assign(hours, false);
  // Work ends and none begins: these are records of an earlier time, whose last runs reach into
  // the period.
  if (begins == 0 && ends > 0) return;
  const HourFlags& any = begins * 24 >= kBeginsPerDayMin * hours ? begun : held;
  for (std::size_t hour = 0; hour < hours; ++hour) {
    if (!any[hour]) continue;
    const std::size_t first = hour < kRecordsReachHours ? 0 : hour - kRecordsReachHours;
    const std::size_t last = std::min(hours - 1, hour + kRecordsReachHours);
    for (std::size_t near = first; near <= last; ++near) recorded_[near] = true;
  }
}

std::size_t FleetHours::recorded_hours() const {
  return static_cast<std::size_t>(std::count(recorded_.begin(), recorded_.end(), true));
}

Interval FleetHours::hour(std::size_t at) const {
  const Instant begin = begin_ + kHourMs * static_cast<std::int64_t>(at);
  return {begin, begin + kHourMs};
}

void FleetHours::mark(HourFlags& flags, const Interval& during) const {
  if (during.end() <= begin_) return;
  auto hour = static_cast<std::size_t>((std::max(during.begin(), begin_) - begin_) / kHourMs);
  for (; hour < flags.size() && begin_ + kHourMs * static_cast<std::int64_t>(hour) < during.end();
       ++hour) {
    flags[hour] = true;
  }
}

void FleetHours::add_named(const Holding& holding) {
  if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
    for (const OnNodes::NodeDevices& part : on_nodes->parts) {
      if (const auto node = fleet_.node_of(part.node)) mark(held_[*node], holding.held);
    }
  } else if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
    for (const GpuId& gpu : on_gpus->gpus) {
      if (const auto node = fleet_.node_of_gpu(gpu)) mark(held_[*node], holding.held);
    }
  }
}

void FleetHours::add_pooled(std::span<const Holding* const> holdings) {
  std::map<std::vector<std::uint32_t>, std::vector<PooledHolding>> by_nodes;
  std::map<std::pair<std::vector<PoolId>, std::string>, std::vector<std::uint32_t>> eligible;
  for (const Holding* holding : holdings) {
    const InPool& pool = std::get<InPool>(holding->placement);
    auto nodes = eligible.find({pool.pools, holding->gpu_model});
    if (nodes == eligible.end()) {
      nodes = eligible
                  .emplace(std::pair(pool.pools, holding->gpu_model),
                           fleet_.pool(pool, holding->gpu_model))
                  .first;
    }
    by_nodes[nodes->second].push_back({holding->held, gpu_units_of(*holding),
                                       holding->cpu_milli.value_or(0),
                                       holding->memory_bytes.value_or(0)});
  }
  HourlyPeaks peaks(begin_, held_.empty() ? 0 : held_.front().size());
  for (const auto& [nodes, pooled] : by_nodes) {
    PoolDemand& demand = demands_.emplace_back();
    demand.nodes = nodes;
    demand.gpu_units = peaks.of(pooled, &PooledHolding::gpu_units);
    demand.cpu_milli = peaks.of(pooled, &PooledHolding::cpu_milli);
    demand.memory_bytes = peaks.of(pooled, &PooledHolding::memory_bytes);
    for (const std::uint32_t node : nodes) {
      pooled_[node] = true;
      demand.has_cpu = demand.has_cpu && fleet_.nodes()[node].capacity.cpu_milli > 0;
      demand.has_memory = demand.has_memory && fleet_.nodes()[node].capacity.memory_bytes > 0;
    }
  }
}

FleetHours::Amounts FleetHours::capacity(std::uint32_t node) const {
  const Capacity& there = fleet_.nodes()[node].capacity;
  return {UInt128{there.gpus} * CardShare::kUnitsPerCard, there.cpu_milli, there.memory_bytes};
}

bool FleetHours::is_enough(const PoolDemand& demand, const Amounts& there, const Amounts& needed,
                           const Reserve& reserve) {
  const auto fits = [&](UInt128 has, UInt128 needs) {
    return has * 100 >= needs * (100 + reserve.pool_percent);
  };
  return fits(there.gpu_units, needed.gpu_units) &&
         (!demand.has_cpu || fits(there.cpu_milli, needed.cpu_milli)) &&
         (!demand.has_memory || fits(there.memory_bytes, needed.memory_bytes));
}

std::vector<HourFlags> FleetHours::free_hours(std::span<const std::uint32_t> order,
                                              const Reserve& reserve) const {
  std::vector<HourFlags> free(held_.size(), HourFlags(hours()));
  // Demand i also has to hold whatever may only go to a part of its nodes.
  std::vector<std::vector<std::size_t>> within(demands_.size());
  std::vector<std::vector<std::size_t>> demands_of_node(held_.size());
  for (std::size_t i = 0; i < demands_.size(); ++i) {
    for (const std::uint32_t node : demands_[i].nodes) demands_of_node[node].push_back(i);
    for (std::size_t j = 0; j < demands_.size(); ++j) {
      if (std::includes(demands_[i].nodes.begin(), demands_[i].nodes.end(),
                        demands_[j].nodes.begin(), demands_[j].nodes.end())) {
        within[i].push_back(j);
      }
    }
  }
  for (std::size_t hour = 0; hour < hours(); ++hour) {
    if (!recorded_[hour]) continue;
    std::vector<Amounts> there(demands_.size());
    std::vector<Amounts> needed(demands_.size());
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      for (const std::uint32_t node : demands_[i].nodes) {
        if (!there_[node][hour] || held_[node][hour]) continue;
        const Amounts more = capacity(node);
        there[i].gpu_units += more.gpu_units;
        there[i].cpu_milli += more.cpu_milli;
        there[i].memory_bytes += more.memory_bytes;
      }
      for (const std::size_t part : within[i]) {
        needed[i].gpu_units += demands_[part].gpu_units[hour];
        needed[i].cpu_milli += demands_[part].cpu_milli[hour];
        needed[i].memory_bytes += demands_[part].memory_bytes[hour];
      }
    }
    std::map<std::string, std::uint32_t> spared;  // by pool
    for (const std::uint32_t node : order) {
      if (!there_[node][hour] || held_[node][hour]) continue;
      std::uint32_t& spare = spared[fleet_.any_fact(node).pool.text()];
      if (spare < reserve.spare_nodes) {
        ++spare;
        continue;
      }
      const Amounts less = capacity(node);
      std::vector<Amounts> left;
      bool is_enough_left = true;
      for (const std::size_t i : demands_of_node[node]) {
        left.push_back({there[i].gpu_units - less.gpu_units, there[i].cpu_milli - less.cpu_milli,
                        there[i].memory_bytes - less.memory_bytes});
        is_enough_left = is_enough_left && is_enough(demands_[i], left.back(), needed[i], reserve);
      }
      if (!is_enough_left) continue;
      for (std::size_t n = 0; n < left.size(); ++n) there[demands_of_node[node][n]] = left[n];
      free[node][hour] = true;
    }
  }
  return free;
}

}  // namespace pennyweight::advising
