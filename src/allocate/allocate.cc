#include "allocate/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "allocate/dimensions.h"
#include "allocate/holding_order.h"
#include "allocate/line.h"
#include "allocate/occupancy.h"
#include "allocate/parallel.h"
#include "allocate/post.h"
#include "allocate/resource_name.h"
#include "allocate/rules.h"
#include "allocate/seen_index.h"
#include "allocate/share.h"
#include "core/billing_period.h"

namespace pennyweight {
namespace {

// Stretches [begin, end) that lie in one local day, and that day.
struct Day {
  std::size_t begin;
  std::size_t end;
  Interval all;
};

// Stretches ascend by their begin and none crosses midnight, so those of a day stand together.
std::vector<Day> days_of(const std::vector<Interval>& stretches, const TimeZone& zone) {
  std::vector<Day> days;
  std::string today;
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    const std::string date = local_date(stretches[s].begin(), zone);
    if (days.empty() || date != today) {
      days.push_back({s, s, day_of(stretches[s].begin(), zone)});
    }
    today = date;
    days.back().end = s + 1;
  }
  return days;
}

// Which demands overlap each stretch of a day, in the demands' order.
std::vector<std::vector<const Demand*>> demands_by_stretch(std::span<const Demand* const> demands,
                                                           std::span<const Interval> stretches) {
  std::chrono::milliseconds longest{0};
  for (const Interval& stretch : stretches) {
    longest = std::max(longest, stretch.end() - stretch.begin());
  }
  std::vector<std::vector<const Demand*>> active(stretches.size());
  for (const Demand* demand : demands) {
    // Stretches ascend by their begin; one that began earlier than `longest` before is over.
    auto at = std::lower_bound(stretches.begin(), stretches.end(), demand->during.begin() - longest,
                               [](const Interval& s, Instant t) { return s.begin() < t; });
    for (; at != stretches.end() && at->begin() < demand->during.end(); ++at) {
      if (at->overlap(demand->during)) {
        active[static_cast<std::size_t>(at - stretches.begin())].push_back(demand);
      }
    }
  }
  return active;
}

std::vector<std::vector<LineStretch>> lines_by_stretch(const Lines& lines) {
  std::vector<std::vector<LineStretch>> here(lines.stretches.size());
  for (std::uint32_t l = 0; l < lines.all.size(); ++l) {
    const auto& stretches = lines.all[l].stretches;
    for (std::uint32_t p = 0; p < stretches.size(); ++p) {
      here[stretches[p]].push_back({.line = l, .position = p});
    }
  }
  return here;
}

// What telemetry had that the reader should know, over all days.
struct SeenCounts {
  std::uint64_t samples = 0, clamped = 0, unreliable = 0, copies = 0;
  void add(const SeenUsage& seen) {
    samples += seen.samples;
    clamped += seen.clamped;
    unreliable += seen.unreliable;
    copies += seen.copies;
  }
};

// The shares of all lines, a day at a time, since a day of telemetry is much and a month too much.
class Days {
 public:
  Days(const AllocationInput& input, const Lines& lines, const Surroundings& around,
       const Demands& demands)
      : input_(input), lines_(lines), around_(around), here_(lines_by_stretch(lines)) {
    for (const Demand& demand : demands.all) by_begin_.push_back(&demand);
    std::stable_sort(by_begin_.begin(), by_begin_.end(), [](const Demand* a, const Demand* b) {
      return a->during.begin() < b->during.begin();
    });
    by_line_.resize(lines.all.size());
  }

  Result<std::vector<std::vector<Share>>> run() {
    for (const Day& day : days_of(lines_.stretches, input_.policy.time_zone)) {
      SeenUsage seen{.during = day.all, .series = {}, .placed = {}};
      if (input_.seen) {
        auto loaded = input_.seen(day.all);
        if (!loaded) return std::unexpected(loaded.error());
        seen = std::move(*loaded);
        counts_.add(seen);
      }
      share_day(day, SeenIndex(seen, around_.fleet));
    }
    return std::move(by_line_);
  }

  const SeenCounts& counts() const { return counts_; }

 private:
  // Demands that overlap the day, in the order of `by_begin_`.
  std::vector<const Demand*> demands_on(const Day& day) {
    while (next_ < by_begin_.size() && by_begin_[next_]->during.begin() < day.all.end()) {
      running_.push_back(by_begin_[next_++]);
    }
    std::erase_if(running_,
                  [&](const Demand* demand) { return demand->during.end() <= day.all.begin(); });
    std::vector<const Demand*> demands = running_;
    std::stable_sort(demands.begin(), demands.end(),
                     [](const Demand* a, const Demand* b) { return a->holding < b->holding; });
    return demands;
  }

  void share_day(const Day& day, const SeenIndex& seen) {
    const auto demands = demands_on(day);
    const auto stretches = std::span(lines_.stretches).subspan(day.begin, day.end - day.begin);
    const auto active = demands_by_stretch(demands, stretches);
    std::vector<Occupancy> occupancies;
    std::vector<std::vector<Cut>> cuts(stretches.size());
    for_each_index(stretches.size(), input_.threads, [&](std::size_t s) {
      cuts[s] = cuts_of(stretches[s], active[s], around_, seen);
    });
    occupy(stretches, cuts, seen, occupancies);
    std::vector<std::vector<Share>> shares(stretches.size());
    for_each_index(stretches.size(), input_.threads, [&](std::size_t s) {
      const auto pooled = pool_cuts(cuts[s]);
      share_pools(occupancies[s], pooled, around_);
      shares[s] = shares_of(static_cast<std::uint32_t>(day.begin + s), lines_, here_[day.begin + s],
                            occupancies[s], around_);
      occupancies[s].machines.clear();
    });
    for (auto& of_stretch : shares) {
      for (const Share& share : of_stretch) by_line_[share.line].push_back(share);
    }
  }

  static std::span<const Cut> pool_cuts(const std::vector<Cut>& cuts) {
    const auto begin = std::partition_point(cuts.begin(), cuts.end(),
                                            [](const Cut& cut) { return cut.machine != kNone; });
    return {begin, cuts.end()};
  }

  // All machines of all stretches of the day: the work that counts, in blocks for the threads.
  void occupy(std::span<const Interval> stretches, const std::vector<std::vector<Cut>>& cuts,
              const SeenIndex& seen, std::vector<Occupancy>& occupancies) const {
    constexpr std::size_t kBlock = 16;
    const std::size_t machines = around_.fleet.machines().size();
    const std::size_t blocks = (machines + kBlock - 1) / kBlock;
    for (const Interval& stretch : stretches) {
      occupancies.push_back({.stretch = stretch,
                             .machines = std::vector<MachineOccupancy>(machines),
                             .leaves = std::vector<LeafOccupancy>(around_.fleet.leaves().size()),
                             .pool_gpu_time = {},
                             .pool_memory_time = {}});
    }
    for_each_index(stretches.size() * blocks, input_.threads, [&](std::size_t task) {
      const std::size_t s = task / blocks;
      const std::span<const Cut> all = cuts[s];
      const bool pool_takes = !all.empty() && all.back().machine == kNone;
      auto first = static_cast<std::uint32_t>(task % blocks * kBlock);
      const auto last = static_cast<std::uint32_t>(std::min(machines, first + kBlock));
      auto at = std::partition_point(all.begin(), all.end(),
                                     [&](const Cut& cut) { return cut.machine < first; });
      for (; first < last; ++first) {
        const auto begin = at;
        while (at != all.end() && at->machine == first) ++at;
        occupancies[s].machines[first] =
            machine_occupancy(stretches[s], first, {begin, at}, around_, seen, pool_takes);
      }
    });
  }

  const AllocationInput& input_;
  const Lines& lines_;
  const Surroundings& around_;
  std::vector<std::vector<LineStretch>> here_;
  std::vector<const Demand*> by_begin_;
  std::size_t next_ = 0;
  std::vector<const Demand*> running_;
  std::vector<std::vector<Share>> by_line_;
  SeenCounts counts_;
};

// Of each workload that has a posting, by the labels of its latest holding.
std::vector<WorkloadDimensions> dimensions_in(std::span<const Posting> postings,
                                              std::span<const Holding* const> holdings,
                                              const Policy& policy) {
  std::map<WorkloadId, const Holding*> latest;
  for (const Posting& posting : postings) {
    if (!posting.workload.empty()) latest.try_emplace(posting.workload, nullptr);
  }
  for (const Holding* holding : holdings) {
    const auto found = latest.find(holding->workload);
    if (found != latest.end()) found->second = holding;
  }
  std::vector<WorkloadDimensions> dimensions;
  for (const auto& [workload, holding] : latest) {
    dimensions.push_back(
        {workload, dimensions_of(holding->cluster, workload, holding->labels, policy)});
  }
  return dimensions;
}

std::vector<AllocationNote> notes_of(const Demands& demands, const Lines& lines,
                                     const SeenCounts& seen) {
  std::vector<AllocationNote> notes;
  for (const auto& [what, count] : demands.problems) {
    notes.push_back({fmt::format("not placed: {}", what), count});
  }
  if (lines.without_price > 0) {
    notes.push_back({"lines whose node has no known hourly list price went to the GPUs whole",
                     lines.without_price});
  }
  const auto note = [&](const char* what, std::uint64_t count) {
    if (count > 0) notes.push_back({what, count});
  };
  note("telemetry: values beyond their scale were taken for its end", seen.clamped);
  note("telemetry: compute of mixed MIG layouts on an A100 is unreliable and was not used",
       seen.unreliable);
  note("telemetry: copies of a device's values for its pods were used once", seen.copies);
  return notes;
}

}  // namespace

std::vector<ClusterId> cluster_of_charges(std::span<const Charge> charges,
                                          std::span<const Node> nodes) {
  // A name that nodes of two clusters bear says nothing.
  std::map<std::string, std::optional<ClusterId>, std::less<>> owner;
  const auto own = [&](std::string_view id, const ClusterId& cluster) {
    if (id.empty()) return;
    const auto [found, is_new] = owner.try_emplace(std::string(id), cluster);
    if (!is_new && found->second != cluster) found->second = std::nullopt;
  };
  for (const Node& node : nodes) {
    own(node.provider_id, node.cluster);
    own(last_segment(node.provider_id), node.cluster);
    own(node.name.text(), node.cluster);
  }
  std::vector<ClusterId> clusters;
  clusters.reserve(charges.size());
  for (const Charge& charge : charges) {
    if (!charge.cluster.empty()) {
      clusters.emplace_back(charge.cluster);
      continue;
    }
    auto found = owner.find(charge.resource_id);
    if (found == owner.end()) found = owner.find(last_segment(charge.resource_id));
    const bool known = found != owner.end() && found->second;
    clusters.push_back(known ? *found->second : ClusterId(""));
  }
  return clusters;
}

Result<Allocation> allocate(const AllocationInput& input) {
  if (input.policy.weights.compute == 0 && input.policy.weights.memory == 0) {
    return fail(ErrorCode::kConfig, "policy.weights: compute and memory can't both be 0");
  }
  const Fleet fleet(input.nodes, input.gpus, input.outages, input.catalog);
  const auto holdings = in_order(input.holdings);
  const Demands demands = resolve(holdings, fleet);
  const auto rules = SharingRules::of(input.policy, input.cluster, fleet, holdings);
  if (!rules) return std::unexpected(rules.error());
  const Lines lines = lines_of(input.charges, fleet, input.policy, input.catalog, input.changed);
  const Surroundings around{fleet, demands.selectors, *rules, holdings};
  Days days(input, lines, around, demands);
  auto shares = days.run();
  if (!shares) return std::unexpected(shares.error());

  std::vector<std::vector<Posting>> by_line(lines.all.size());
  for_each_index(lines.all.size(), input.threads, [&](std::size_t l) {
    by_line[l] =
        post(lines.all[l], std::move((*shares)[l]), lines, fleet, holdings, input.policy.time_zone);
  });
  Allocation allocation;
  std::size_t count = 0;
  for (const auto& postings : by_line) count += postings.size();
  allocation.postings.reserve(count);
  for (auto& postings : by_line) {
    std::move(postings.begin(), postings.end(), std::back_inserter(allocation.postings));
    postings = {};
  }
  allocation.dimensions = dimensions_in(allocation.postings, holdings, input.policy);
  allocation.notes = notes_of(demands, lines, days.counts());
  return allocation;
}

}  // namespace pennyweight
