#include "allocate/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "allocate/dimensions.h"
#include "allocate/line.h"
#include "allocate/occupancy.h"
#include "allocate/parallel.h"
#include "allocate/post.h"
#include "allocate/resource_name.h"
#include "allocate/share.h"

namespace pennyweight {
namespace {

// Holdings in an order that depends on what they are.
std::vector<const Holding*> in_order(std::span<const Holding> holdings) {
  std::vector<const Holding*> order;
  order.reserve(holdings.size());
  for (const Holding& holding : holdings) order.push_back(&holding);
  std::sort(order.begin(), order.end(), [](const Holding* a, const Holding* b) {
    return std::tie(a->held, a->workload, a->attempt, a->id) <
           std::tie(b->held, b->workload, b->attempt, b->id);
  });
  return order;
}

// Which demands overlap each stretch, in the demands' order.
std::vector<std::vector<const Demand*>> demands_by_stretch(const std::vector<Demand>& demands,
                                                           const std::vector<Interval>& stretches) {
  std::chrono::milliseconds longest{0};
  for (const Interval& stretch : stretches) {
    longest = std::max(longest, stretch.end() - stretch.begin());
  }
  std::vector<std::vector<const Demand*>> active(stretches.size());
  for (const Demand& demand : demands) {
    // Stretches ascend by their begin; one that began earlier than `longest` before is over.
    auto at = std::lower_bound(stretches.begin(), stretches.end(), demand.during.begin() - longest,
                               [](const Interval& s, Instant t) { return s.begin() < t; });
    for (; at != stretches.end() && at->begin() < demand.during.end(); ++at) {
      if (at->overlap(demand.during)) {
        active[static_cast<std::size_t>(at - stretches.begin())].push_back(&demand);
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

std::vector<std::vector<Share>> all_shares(const AllocationInput& input, const Lines& lines,
                                           const Fleet& fleet, const Demands& demands) {
  const auto active = demands_by_stretch(demands.all, lines.stretches);
  const auto here = lines_by_stretch(lines);
  std::vector<std::vector<Share>> by_stretch(lines.stretches.size());
  for_each_index(lines.stretches.size(), input.threads, [&](std::size_t s) {
    const Occupancy occupancy =
        occupancy_of(lines.stretches[s], fleet, demands.selectors, active[s]);
    by_stretch[s] = shares_of(static_cast<std::uint32_t>(s), lines, here[s], fleet, occupancy,
                              input.policy.weights);
  });
  std::vector<std::vector<Share>> by_line(lines.all.size());
  for (auto& shares : by_stretch) {
    for (const Share& share : shares) by_line[share.line].push_back(share);
    shares = {};
  }
  return by_line;
}

// Of each workload that has a posting, by the labels of its latest holding.
std::vector<WorkloadDimensions> dimensions_in(std::span<const Posting> postings,
                                              std::span<const Holding* const> holdings,
                                              std::span<const DimensionRule> rules) {
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
    dimensions.push_back({workload, dimensions_of(holding->labels, rules)});
  }
  return dimensions;
}

std::vector<AllocationNote> notes_of(const Demands& demands, const Lines& lines) {
  std::vector<AllocationNote> notes;
  for (const auto& [what, count] : demands.problems) {
    notes.push_back({fmt::format("not placed: {}", what), count});
  }
  if (lines.without_price > 0) {
    notes.push_back({"lines whose node has no known hourly list price went to the GPUs whole",
                     lines.without_price});
  }
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
  const Fleet fleet(input.nodes, input.gpus, input.catalog);
  const auto holdings = in_order(input.holdings);
  const Demands demands = resolve(holdings, fleet);
  const Lines lines = lines_of(input.charges, fleet, input.policy, input.catalog);
  auto shares = all_shares(input, lines, fleet, demands);

  std::vector<std::vector<Posting>> by_line(lines.all.size());
  for_each_index(lines.all.size(), input.threads, [&](std::size_t l) {
    by_line[l] =
        post(lines.all[l], std::move(shares[l]), lines, fleet, holdings, input.policy.time_zone);
  });
  Allocation allocation;
  std::size_t count = 0;
  for (const auto& postings : by_line) count += postings.size();
  allocation.postings.reserve(count);
  for (auto& postings : by_line) {
    std::move(postings.begin(), postings.end(), std::back_inserter(allocation.postings));
    postings = {};
  }
  allocation.dimensions = dimensions_in(allocation.postings, holdings, input.policy.dimensions);
  allocation.notes = notes_of(demands, lines);
  return allocation;
}

}  // namespace pennyweight
