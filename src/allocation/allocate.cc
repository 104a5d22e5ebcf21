#include "allocation/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <unordered_map>

#include "allocation/daily_sharing.h"
#include "allocation/dimensions.h"
#include "allocation/explain_text.h"
#include "allocation/holding_order.h"
#include "allocation/node_index.h"
#include "allocation/occupancy.h"
#include "allocation/parallel.h"
#include "allocation/post_charge.h"
#include "allocation/resolved_charge.h"
#include "allocation/rules.h"
#include "allocation/weighted_share.h"
#include "core/try.h"

namespace pennyweight {
namespace {

// Collects the postings of finished charges: passes them on at once, or makes them at the end in
// the order of the charges. Until then it keeps their shares, which take a third of the memory.
class Postings {
 public:
  Postings(const AllocationInput& input, const ResolvedCharges& charges, const DailySharing& days,
           const Fleet& fleet, std::span<const Holding* const> holdings)
      : input_(input),
        charges_(charges),
        days_(days),
        fleet_(fleet),
        holdings_(holdings),
        held_(holdings.size()) {}

  Result<void> add(std::vector<FinishedCharge> finished) {
    if (input_.postings) return post_all(finished, input_.postings);
    std::move(finished.begin(), finished.end(), std::back_inserter(kept_));
    return {};
  }

  // Those that were not passed on.
  std::vector<Posting> take() {
    std::sort(kept_.begin(), kept_.end(),
              [](const FinishedCharge& a, const FinishedCharge& b) { return a.charge < b.charge; });
    std::size_t most = 0;
    for (const FinishedCharge& each : kept_) {
      most += each.shares.size() + charges_.all[each.charge].segments.size() * 3;
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

  // Of each workload with a posting, by the labels of its latest holding.
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
          resolve_dimensions(holding.cluster, holding.workload, holding.labels, input_.policy);
    });
    return dimensions;
  }

 private:
  // Few charges at a time, since postings are larger than shares.
  Result<void> post_all(std::span<FinishedCharge> finished, const PostingSink& sink) {
    constexpr std::size_t kAtOnce = 512;
    for (std::size_t first = 0; first < finished.size(); first += kAtOnce) {
      std::vector<std::vector<Posting>> some(std::min(kAtOnce, finished.size() - first));
      for_each_index(some.size(), input_.threads, [&](std::size_t i) {
        auto& [charge, shares] = finished[first + i];
        some[i] = post_charge(charges_.all[charge], std::move(shares), charges_, days_.dates(),
                              fleet_, holdings_, held_);
      });
      for (auto& postings : some) {
        TRY(sink(std::move(postings)));
      }
    }
    return {};
  }

  const AllocationInput& input_;
  const ResolvedCharges& charges_;
  const DailySharing& days_;
  const Fleet& fleet_;
  std::span<const Holding* const> holdings_;
  std::vector<std::atomic<bool>> held_;  // by holding: whether it has a posting
  std::vector<FinishedCharge> kept_;
};

std::vector<AllocationNote> notes_of(const Demands& demands, const ResolvedCharges& charges,
                                     const TelemetryCounts& seen,
                                     std::span<const Holding* const> holdings) {
  std::vector<AllocationNote> notes;
  for (const auto& [what, count] : demands.problems) {
    notes.push_back({fmt::format("not placed: {}", what), count});
  }
  const auto missing = [&](const MissingGpus& of, const char* what, const char* why) {
    if (of.holdings == 0) return;
    notes.push_back({fmt::format("{}, {} GPU-hours in all (such as {}): {}. The holders are "
                                 "charged for an equal part of the node",
                                 what, gpu_hours(of.time), of.example, why),
                     of.holdings});
  };
  missing(
      demands.missing_instances,
      "holdings of MIG instances go on while their GPU has another layout or none",
      "an instance in use can't be destroyed, so the time of a layout or of a holding is wrong");
  missing(demands.missing_gpus,
          "holdings of GPUs begin before the inventory has these, or go on after",
          "correct the times of the inventory or of the holdings");
  if (charges.without_price > 0) {
    notes.push_back(
        {"charges for nodes without a known hourly list price went to the GPUs as a whole",
         charges.without_price});
  }
  for (const auto& [why, count] : charges.without_rate) {
    notes.push_back({fmt::format("charges for nodes went to the GPUs as a whole, since the rates "
                                 "of CPU and memory can't be compared with their price: {}",
                                 why),
                     count});
  }
  if (charges.ambiguous > 0) {
    notes.push_back(
        {fmt::format("charges whose resource matches several nodes were assigned to none of them, "
                     "such as '{}'",
                     charges.ambiguous_example),
         charges.ambiguous});
  }
  const auto note = [&](const char* what, std::uint64_t count) {
    if (count > 0) notes.push_back({what, count});
  };
  const auto suspended = std::ranges::count_if(
      holdings, [](const Holding* holding) { return holding->suspended_ms > 0; });
  note(
      "holdings were suspended for a time, which costs them nothing: the GPUs that they kept "
      "meanwhile are unallocated, unless others held them (report --as activity has the hours)",
      static_cast<std::uint64_t>(suspended));
  note("telemetry: values beyond their scale were clamped", seen.clamped);
  note("telemetry: compute of mixed MIG layouts on an A100 is unreliable and was not used",
       seen.unreliable);
  note("telemetry: copies of a device's values for its pods were used once", seen.copies);
  return notes;
}

}  // namespace

std::vector<ClusterId> assign_clusters(std::span<const Charge> charges, std::span<const Node> nodes,
                                       std::span<const JoinRule> rules) {
  std::vector<const Node*> all;
  for (const Node& node : nodes) all.push_back(&node);
  const NodeIndex index(std::move(all), rules);
  std::vector<ClusterId> clusters;
  clusters.reserve(charges.size());
  for (const Charge& charge : charges) {
    clusters.emplace_back(charge.cluster);
    if (!charge.cluster.empty()) continue;
    // The best key decides. A name that nodes of two clusters have decides nothing.
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
  const auto reach = input.changed
                         ? affected_days(input.charges, *input.changed, input.policy.time_zone)
                         : std::nullopt;
  const auto holdings = sort_holdings(input.holdings, reach);
  const Demands demands = resolve_demands(holdings, fleet, input.threads);
  const auto rules = TRY(SharingRules::of(input.policy, input.cluster, fleet, holdings));
  const ResolvedCharges charges = resolve_charges(input.charges, fleet, input.policy, input.catalog,
                                                  input.changed, input.join_rules);
  const AllocationContext context{fleet, demands.selectors, rules, holdings};
  DailySharing days(input, charges, context, demands);
  Postings postings(input, charges, days, fleet, holdings);
  TRY(days.run(
      [&](std::vector<FinishedCharge> finished) { return postings.add(std::move(finished)); }));
  return Allocation{.postings = postings.take(),
                    .dimensions = postings.dimensions(),
                    .notes = notes_of(demands, charges, days.counts(), holdings)};
}

}  // namespace pennyweight
