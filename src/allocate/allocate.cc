#include "allocate/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <unordered_map>

#include "allocate/days.h"
#include "allocate/dimensions.h"
#include "allocate/holding_order.h"
#include "allocate/line.h"
#include "allocate/node_index.h"
#include "allocate/occupancy.h"
#include "allocate/parallel.h"
#include "allocate/post.h"
#include "allocate/rules.h"
#include "allocate/share.h"

namespace pennyweight {
namespace {

// Postings of finished lines: handed on at once, or made at the end in the order of the lines.
// Until then their shares are kept, which are a third as large.
class Postings {
 public:
  Postings(const AllocationInput& input, const Lines& lines, const Days& days, const Fleet& fleet,
           std::span<const Holding* const> holdings)
      : input_(input),
        lines_(lines),
        days_(days),
        fleet_(fleet),
        holdings_(holdings),
        held_(holdings.size()) {}

  Result<void> add(std::vector<FinishedLine> finished) {
    if (input_.postings) return post_all(finished, input_.postings);
    std::move(finished.begin(), finished.end(), std::back_inserter(kept_));
    return {};
  }

  // Those that were not handed on.
  std::vector<Posting> take() {
    std::sort(kept_.begin(), kept_.end(),
              [](const FinishedLine& a, const FinishedLine& b) { return a.line < b.line; });
    std::size_t most = 0;
    for (const FinishedLine& each : kept_) {
      most += each.shares.size() + lines_.all[each.line].stretches.size() * 3;
    }
    std::vector<Posting> all;
    all.reserve(most);
    const auto posted = post_all(kept_, [&](std::vector<Posting> some) -> Result<void> {
      std::move(some.begin(), some.end(), std::back_inserter(all));
      return {};
    });
    CHECK(posted.has_value(), "nothing that is kept in memory can fail");
    return all;
  }

  // Of each workload that has a posting, by the labels of its latest holding.
  std::vector<WorkloadDimensions> dimensions() const {
    std::unordered_map<std::string_view, const Holding*> latest;
    for (std::size_t h = 0; h < holdings_.size(); ++h) {
      if (held_[h]) latest.try_emplace(holdings_[h]->workload.text(), holdings_[h]);
    }
    for (const Holding& holding : input_.holdings) {
      const auto found = latest.find(holding.workload.text());
      if (found != latest.end() && comes_before(*found->second, holding)) found->second = &holding;
    }
    std::vector<const Holding*> by_workload;
    by_workload.reserve(latest.size());
    for (const auto& [workload, holding] : latest) by_workload.push_back(holding);
    sort_by(by_workload, input_.threads,
            [](const Holding* a, const Holding* b) { return a->workload < b->workload; });
    std::vector<WorkloadDimensions> dimensions;
    dimensions.reserve(by_workload.size());
    for (const Holding* holding : by_workload) dimensions.push_back({holding->workload, {}});
    for_each_index(dimensions.size(), input_.threads, [&](std::size_t i) {
      const Holding& holding = *by_workload[i];
      dimensions[i].dimensions =
          dimensions_of(holding.cluster, holding.workload, holding.labels, input_.policy);
    });
    return dimensions;
  }

 private:
  // Few lines at a time, since postings are larger than what they are made of.
  Result<void> post_all(std::span<FinishedLine> finished, const PostingSink& sink) {
    constexpr std::size_t kAtOnce = 512;
    for (std::size_t first = 0; first < finished.size(); first += kAtOnce) {
      std::vector<std::vector<Posting>> some(std::min(kAtOnce, finished.size() - first));
      for_each_index(some.size(), input_.threads, [&](std::size_t i) {
        auto& [line, shares] = finished[first + i];
        some[i] = post(lines_.all[line], std::move(shares), lines_, days_.dates(), fleet_,
                       holdings_, held_);
      });
      for (auto& postings : some) {
        if (auto ok = sink(std::move(postings)); !ok) return ok;
      }
    }
    return {};
  }

  const AllocationInput& input_;
  const Lines& lines_;
  const Days& days_;
  const Fleet& fleet_;
  std::span<const Holding* const> holdings_;
  std::vector<std::atomic<bool>> held_;  // those that have a posting
  std::vector<FinishedLine> kept_;
};

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
  if (lines.ambiguous > 0) {
    notes.push_back(
        {fmt::format("lines whose resource fits several nodes went to none of them, such "
                     "as '{}'",
                     lines.ambiguous_example),
         lines.ambiguous});
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
                                          std::span<const Node> nodes,
                                          std::span<const JoinRule> rules) {
  std::vector<const Node*> all;
  for (const Node& node : nodes) all.push_back(&node);
  const NodeIndex index(std::move(all), rules);
  std::vector<ClusterId> clusters;
  clusters.reserve(charges.size());
  for (const Charge& charge : charges) {
    clusters.emplace_back(charge.cluster);
    if (!charge.cluster.empty()) continue;
    // The best key decides; a name that nodes of two clusters bear says nothing.
    const auto candidates = index.candidates(charge);
    if (candidates.empty()) continue;
    const ClusterId& first = index.node(candidates.front().front()).cluster;
    const bool is_one = std::ranges::all_of(
        candidates.front(), [&](std::uint32_t at) { return index.node(at).cluster == first; });
    if (is_one) clusters.back() = first;
  }
  return clusters;
}

Result<Allocation> allocate(const AllocationInput& input) {
  if (input.policy.weights.compute == 0 && input.policy.weights.memory == 0) {
    return fail(ErrorCode::kConfig, "policy.weights: compute and memory can't both be 0");
  }
  const Fleet fleet(input.nodes, input.gpus, input.outages, input.catalog);
  const auto reach = input.changed ? reach_of(input.charges, *input.changed, input.policy.time_zone)
                                   : std::nullopt;
  const auto holdings = in_order(input.holdings, reach);
  const Demands demands = resolve(holdings, fleet, input.threads);
  const auto rules = SharingRules::of(input.policy, input.cluster, fleet, holdings);
  if (!rules) return std::unexpected(rules.error());
  const Lines lines =
      lines_of(input.charges, fleet, input.policy, input.catalog, input.changed, input.join_rules);
  const Surroundings around{fleet, demands.selectors, *rules, holdings};
  Days days(input, lines, around, demands);
  Postings postings(input, lines, days, fleet, holdings);
  const auto done = days.run(
      [&](std::vector<FinishedLine> finished) { return postings.add(std::move(finished)); });
  if (!done) return std::unexpected(done.error());
  return Allocation{.postings = postings.take(),
                    .dimensions = postings.dimensions(),
                    .notes = notes_of(demands, lines, days.counts())};
}

}  // namespace pennyweight
