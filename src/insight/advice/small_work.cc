#include "insight/advice/small_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "allocation/policy/label_match.h"
#include "allocation/rules.h"
#include "insight/advice/activity_profile.h"
#include "insight/advice/autoscaling.h"
#include "insight/advice/right_size.h"
#include "insight/advice/spot.h"

namespace pennyweight::advising {
namespace {

constexpr std::int64_t kPoolHourMs = 3'600'000;

// What a holding takes on one node.
struct TakenDevices {
  std::uint32_t holding;
  std::string taken;
  std::uint64_t count;
};

}  // namespace

std::string SmallWorkPool::name() const {
  return fmt::format("pool {}, {}, {}", pool.empty() ? "(unnamed)" : pool,
                     instance_type.empty() ? "any type" : instance_type, model->name);
}

std::map<Currency, Money> SmallWorkPool::saved_beyond(std::uint64_t kept, const FleetHours& hours,
                                                      const NodeBill& bill) const {
  std::map<std::uint32_t, HourFlags> gone;
  for (std::size_t hour = 0; hour < hours.hours(); ++hour) {
    std::uint64_t in_use = 0;
    for (const std::uint32_t node : nodes) {
      if (!held.at(node)[hour] || ++in_use <= kept) continue;
      gone.try_emplace(node, HourFlags(hours.hours(), false)).first->second[hour] = true;
    }
  }
  std::map<Currency, Money> sums;
  for (const auto& [node, flags] : gone) {
    for (const auto& [currency, money] : bill.cost_of(node, hours, flags)) {
      sums.try_emplace(currency, Money::zero(currency)).first->second += money;
    }
  }
  return sums;
}

std::vector<SmallWorkPool> find_small_work_pools(const ClusterMonth& month, const FleetView& fleet,
                                                 const FleetHours& hours, const NodeBill& bill,
                                                 const std::map<std::uint32_t, HourFlags>& released,
                                                 const Policy& policy, const TakenOf& taken_of) {
  if (hours.hours() == 0) return {};
  std::map<std::uint32_t, std::vector<TakenDevices>> taken;  // by node
  std::set<std::uint32_t> excluded;
  for (std::uint32_t i = 0; i < month.holdings.size(); ++i) {
    const Holding& holding = month.holdings[i];
    if (matches_any(policy.overhead,
                    [&](std::string_view key) { return policy_label(holding, key); })) {
      continue;
    }
    const auto devices = fleet.devices_on_nodes(holding);
    for (const auto& [node, count] : devices) {
      const GpuModel* model = fleet.nodes()[node].model;
      std::optional<std::string> what;
      if (model != nullptr && count > 0) what = taken_of({holding, *model, count, devices.size()});
      if (what) {
        taken[node].push_back({i, *std::move(what), count});
      } else {
        excluded.insert(node);
      }
    }
  }
  std::map<std::tuple<std::string, std::string, std::string, const GpuModel*>, SmallWorkPool> pools;
  for (const auto& [node, all] : taken) {
    if (excluded.contains(node) || hours.has_pooled(node) || bill.is_committed(node) ||
        bill.avoidable(node).empty()) {
      continue;
    }
    const Node& fact = fleet.any_fact(node);
    const GpuModel* model = fleet.nodes()[node].model;
    SmallWorkPool& pool = pools[{fact.pool.text(), fact.instance_type, fact.region, model}];
    pool.pool = fact.pool.text();
    pool.instance_type = fact.instance_type;
    pool.region = fact.region;
    pool.model = model;
    pool.nodes.push_back(node);
  }
  std::vector<SmallWorkPool> found;
  for (auto& [key, pool] : pools) {
    pool.gpus_each = fleet.nodes()[pool.nodes.front()].capacity.gpus;
    if (pool.nodes.size() < 2 || pool.gpus_each == 0 ||
        std::ranges::any_of(pool.nodes, [&](std::uint32_t node) {
          return fleet.nodes()[node].capacity.gpus != pool.gpus_each;
        })) {
      continue;
    }
    std::map<std::string, std::vector<std::uint64_t>> wanted;  // in each hour
    for (const std::uint32_t node : pool.nodes) {
      HourFlags& flags = pool.held.try_emplace(node, HourFlags(hours.hours(), false)).first->second;
      for (const TakenDevices& each : taken.at(node)) {
        const Holding& holding = month.holdings[each.holding];
        pool.works.insert(work_of(holding));
        pool.workloads.insert(holding.workload);
        std::vector<std::uint64_t>& counts = wanted[each.taken];
        counts.resize(hours.hours(), 0);
        const Instant begin = hours.hour(0).begin();
        if (holding.held.end() <= begin) continue;
        auto hour = static_cast<std::size_t>(
            (std::max(holding.held.begin(), begin) - begin).count() / kPoolHourMs);
        for (; hour < hours.hours() && hours.hour(hour).begin() < holding.held.end(); ++hour) {
          counts[hour] += each.count;
          flags[hour] = true;
        }
      }
      const auto gone = released.find(node);
      for (std::size_t hour = 0; gone != released.end() && hour < flags.size(); ++hour) {
        flags[hour] = flags[hour] && !gone->second[hour];
      }
    }
    for (const auto& [what, counts] : wanted) pool.peak[what] = std::ranges::max(counts);
    const auto hours_held = [&](std::uint32_t node) {
      return std::ranges::count(pool.held.at(node), true);
    };
    std::ranges::stable_sort(pool.nodes, [&](std::uint32_t a, std::uint32_t b) {
      return hours_held(a) > hours_held(b);
    });
    found.push_back(std::move(pool));
  }
  return found;
}

std::string alternatives_of(const ClusterId& cluster, const SmallWorkPool& pool) {
  return fmt::format("mig-layout\n{}\n{}", cluster.text(), pool.name() + pool.region);
}

std::vector<std::string> conflicts_of(const ClusterId& cluster, const SmallWorkPool& pool,
                                      Currency currency) {
  std::vector<std::string> sets;
  for (const std::string& work : pool.works) {
    sets.push_back(right_size_set(cluster, work, pool.model->name));
    sets.push_back(autoscaling_set(cluster, work));
    sets.push_back(spot_set(cluster, work, pool.instance_type, pool.region));
  }
  sets.push_back(fmt::format("commitment\n{}\n{}, {}\n{}", cluster.text(), pool.instance_type,
                             pool.region.empty() ? "any region" : pool.region, currency.text()));
  return sets;
}

}  // namespace pennyweight::advising
