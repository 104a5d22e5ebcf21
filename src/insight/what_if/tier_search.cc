#include "insight/what_if/tier_search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/int128.h"
#include "core/try.h"

namespace pennyweight::what_if {
namespace {

Int128 scaled(Int128 ticks, std::int64_t part, std::int64_t whole) {
  const bool is_negative = ticks < 0;
  const auto size = static_cast<UInt128>(is_negative ? -ticks : ticks);
  const auto result = static_cast<Int128>(
      multiply_divide(size, static_cast<UInt128>(part), static_cast<UInt128>(whole)).quotient);
  return is_negative ? -result : result;
}

// For how long the nodes on demand cost how much: microseconds by the price of those that are paid
// for at that moment.
using DurationByPrice = std::map<Int128, std::int64_t>;

class TierSearch {
 public:
  TierSearch(const ReplayWorld& world, const TierNodes& nodes, const TierGoal& goal,
             std::uint64_t never_start_max, const TierReplay& replay)
      : world_(world),
        tried_(world),
        nodes_(nodes),
        goal_(goal),
        never_start_max_(never_start_max),
        replay_(replay) {}

  Result<std::vector<TierPoint>> run() {
    const auto all = static_cast<std::uint32_t>(nodes_.machines.size());
    TRY(try_fleet({all, 0}));
    const std::uint64_t fleets = goal_.prices.spot_percent
                                     ? std::uint64_t{all} * (std::uint64_t{all} + 3) / 2
                                     : std::uint64_t{all};
    if (fleets <= goal_.tries_max) {
      TRY(try_grid(1, 1));
    } else {
      TRY(refine(all));
    }
    return points_by_cost();
  }

 private:
  using Fleet = std::pair<std::uint32_t, std::uint32_t>;  // nodes, spot

  bool may_try() const { return points_.size() < goal_.tries_max; }

  // Fleets whose numbers are multiples of the steps, counted from the whole fleet down.
  Result<void> try_grid(std::uint32_t nodes_step, std::uint32_t spot_step) {
    const auto all = static_cast<std::uint32_t>(nodes_.machines.size());
    for (std::uint32_t fewer = 0; fewer < all; fewer += nodes_step) {
      const std::uint32_t nodes = all - fewer;
      const std::uint32_t spot_max = goal_.prices.spot_percent ? nodes : 0;
      for (std::uint32_t spot = 0; spot <= spot_max; spot += spot_step) {
        TRY(try_fleet({nodes, spot}));
      }
      TRY(try_fleet({nodes, spot_max}));
    }
    return {};
  }

  // A grid that takes half of the tries, and then the neighbours of the cheapest fleet that is
  // enough, nearer each time.
  Result<void> refine(std::uint32_t all) {
    std::uint32_t per_axis = 2;
    const std::uint32_t half = std::max<std::uint32_t>(1, goal_.tries_max / 2);
    if (goal_.prices.spot_percent) {
      while ((per_axis + 1) * (per_axis + 1) <= half) ++per_axis;
    } else {
      per_axis = half;
    }
    std::uint32_t step = std::max<std::uint32_t>(1, (all + per_axis - 1) / per_axis);
    TRY(try_grid(step, step));
    while (may_try()) {
      const Fleet center = cheapest();
      const std::size_t before = points_.size();
      step = std::max<std::uint32_t>(1, step / 2);
      const auto moved = [](std::uint32_t from, std::int64_t by) {
        return static_cast<std::uint32_t>(std::max<std::int64_t>(0, std::int64_t{from} + by));
      };
      for (const std::int64_t nodes_by : {-1, 0, 1}) {
        for (const std::int64_t spot_by : {-1, 0, 1}) {
          const std::uint32_t nodes =
              std::clamp<std::uint32_t>(moved(center.first, nodes_by * step), 1, all);
          const std::uint32_t spot_max = goal_.prices.spot_percent ? nodes : 0;
          TRY(try_fleet({nodes, std::min(spot_max, moved(center.second, spot_by * step))}));
        }
      }
      if (step == 1 && points_.size() == before) break;
    }
    return {};
  }

  // Of fleets that cost alike, the one with the shorter wait, then with more nodes.
  Fleet cheapest() const {
    const auto rank = [](const auto& entry) {
      const auto& [fleet, point] = entry;
      return std::tuple(!point.is_enough, point.is_enough ? point.cost() : 0, point.wait_p95_us,
                        ~fleet.first, fleet.second);
    };
    return std::min_element(points_.begin(), points_.end(),
                            [&](const auto& a, const auto& b) { return rank(a) < rank(b); })
        ->first;
  }

  Result<void> try_fleet(Fleet fleet) {
    if (points_.contains(fleet) || !may_try()) return {};
    const auto [nodes, spot] = fleet;
    tried_.machines.clear();
    tried_.node_of_machine.clear();
    std::vector<bool> is_spot;
    std::vector<Int128> prices;  // of each machine; 0: it is not among the nodes that are chosen
    std::vector<std::uint32_t> rank_of(world_.machines.size(), kNotChosen);
    for (std::uint32_t i = 0; i < nodes_.machines.size(); ++i) rank_of[nodes_.machines[i]] = i;
    for (std::uint32_t machine = 0; machine < world_.machines.size(); ++machine) {
      const std::uint32_t rank = rank_of[machine];
      if (rank != kNotChosen && rank >= nodes) continue;
      tried_.machines.push_back(world_.machines[machine]);
      tried_.node_of_machine.push_back(world_.node_of_machine[machine]);
      is_spot.push_back(rank != kNotChosen && rank >= nodes - spot);
      prices.push_back(rank == kNotChosen ? 0 : nodes_.prices[rank]);
    }
    const replay::Replay replay = TRY(replay_(tried_, is_spot));
    const JobFigures figures = figures_of(tried_, replay);
    TierPoint point;
    point.nodes = nodes;
    point.spot = spot;
    point.wait_p95_us = figures.wait.p95;
    point.never_start = figures.never_start;
    point.unfinished = figures.unfinished;
    point.interruptions = figures.interruptions;
    point.is_enough =
        point.wait_p95_us <= goal_.wait_p95_max_us && point.never_start <= never_start_max_;
    add_costs(point, paid_spans(tried_, replay, goal_.prices.kept_us), is_spot, prices);
    points_.emplace(fleet, point);
    return {};
  }

  void add_costs(TierPoint& point, const std::vector<std::vector<PaidSpan>>& spans,
                 const std::vector<bool>& is_spot, const std::vector<Int128>& prices) const {
    const std::int64_t period = period_us(world_.period);
    std::vector<std::pair<std::int64_t, Int128>> changes;  // of what is paid on demand
    for (std::size_t machine = 0; machine < spans.size(); ++machine) {
      for (const PaidSpan& span : spans[machine]) {
        if (is_spot[machine]) {
          point.spot_cost += scaled(scaled(prices[machine], *goal_.prices.spot_percent, 100),
                                    span.end_us - span.begin_us, period);
        } else if (prices[machine] != 0) {
          changes.emplace_back(span.begin_us, prices[machine]);
          changes.emplace_back(span.end_us, -prices[machine]);
        }
      }
    }
    std::sort(changes.begin(), changes.end());
    DurationByPrice durations;
    Int128 price = 0;
    std::int64_t since = 0;
    for (const auto& [at, change] : changes) {
      if (at > since && price != 0) durations[price] += at - since;
      since = at;
      price += change;
    }
    choose_commitment(point, durations);
  }

  // Every commitment from none to the whole fleet; of those that cost alike the smallest.
  void choose_commitment(TierPoint& point, const DurationByPrice& durations) const {
    const auto period_ms = static_cast<Int128>(world_.period.length_ms());
    const Int128 all = std::accumulate(nodes_.prices.begin(), nodes_.prices.end(), Int128{0});
    const auto nodes = static_cast<std::int64_t>(nodes_.machines.size());
    const std::uint32_t most = goal_.prices.committed_percent ? point.nodes : 0;
    // Of the moments whose nodes cost more than is covered.
    Int128 price_ms = 0;
    Int128 ms = 0;
    for (const auto& [price, us] : durations) {
      price_ms += price * (us / 1000);
      ms += us / 1000;
    }
    auto next = durations.begin();
    for (std::uint32_t committed = 0; committed <= most; ++committed) {
      const Int128 covered = scaled(all, committed, nodes);
      for (; next != durations.end() && next->first <= covered; ++next) {
        price_ms -= next->first * (next->second / 1000);
        ms -= next->second / 1000;
      }
      const Int128 commitment = scaled(covered, goal_.prices.committed_percent.value_or(0), 100);
      const Int128 on_demand = (price_ms - covered * ms) / period_ms;
      if (committed > 0 && commitment + on_demand >= point.committed_cost + point.on_demand_cost) {
        continue;
      }
      point.committed = committed;
      point.committed_cost = commitment;
      point.on_demand_cost = on_demand;
    }
  }

  std::vector<TierPoint> points_by_cost() const {
    std::vector<TierPoint> points;
    for (const auto& [fleet, point] : points_) points.push_back(point);
    std::stable_sort(points.begin(), points.end(), [](const TierPoint& a, const TierPoint& b) {
      return std::tuple(a.cost(), a.wait_p95_us) < std::tuple(b.cost(), b.wait_p95_us);
    });
    // Ascending by cost: a point is on the frontier where nothing before it waits as little.
    std::optional<std::int64_t> least;
    for (TierPoint& point : points) {
      if (point.never_start > never_start_max_) continue;
      point.is_on_frontier = !least || point.wait_p95_us < *least;
      if (point.is_on_frontier) least = point.wait_p95_us;
    }
    return points;
  }

  static constexpr std::uint32_t kNotChosen = ~std::uint32_t{0};
  const ReplayWorld& world_;
  ReplayWorld tried_;  // the same jobs, on the machines of the fleet that is tried
  const TierNodes& nodes_;
  const TierGoal& goal_;
  std::uint64_t never_start_max_;
  const TierReplay& replay_;
  std::map<Fleet, TierPoint> points_;
};

}  // namespace

std::vector<std::vector<PaidSpan>> paid_spans(const ReplayWorld& world,
                                              const replay::Replay& replay, std::int64_t kept_us) {
  const std::int64_t period = period_us(world.period);
  std::vector<std::vector<PaidSpan>> spans(world.machines.size());
  for (const replay::JobRun& run : replay.runs) {
    if (run.begin_us >= period) continue;
    for (const replay::Share& share : run.shares) {
      spans[share.machine].push_back({run.begin_us, std::min(period, run.end_us + kept_us)});
    }
  }
  for (std::vector<PaidSpan>& of_machine : spans) {
    std::sort(of_machine.begin(), of_machine.end(), [](const PaidSpan& a, const PaidSpan& b) {
      return std::tuple(a.begin_us, a.end_us) < std::tuple(b.begin_us, b.end_us);
    });
    std::vector<PaidSpan> merged;
    for (const PaidSpan& span : of_machine) {
      if (!merged.empty() && span.begin_us <= merged.back().end_us) {
        merged.back().end_us = std::max(merged.back().end_us, span.end_us);
      } else {
        merged.push_back(span);
      }
    }
    of_machine = std::move(merged);
  }
  return spans;
}

Result<std::vector<TierPoint>> search_tiers(const ReplayWorld& world, const TierNodes& nodes,
                                            const TierGoal& goal, std::uint64_t never_start_max,
                                            const TierReplay& replay) {
  return TierSearch(world, nodes, goal, never_start_max, replay).run();
}

}  // namespace pennyweight::what_if
