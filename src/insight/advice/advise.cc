#include "insight/advice/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <variant>

#include "allocation/dimensions.h"
#include "core/try.h"
#include "insight/advice/activity_profile.h"
#include "insight/advice/autoscaling.h"
#include "insight/advice/commitments.h"
#include "insight/advice/idle.h"
#include "insight/advice/mig_pools.h"
#include "insight/advice/release_nodes.h"
#include "insight/advice/right_size.h"
#include "insight/advice/sharing.h"
#include "insight/advice/spot.h"
#include "insight/advice/time_limits.h"
#include "insight/advice/work_on_nodes.h"

namespace pennyweight::advising {
namespace {

void append(std::vector<Proposal>& all, std::vector<Proposal> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

// Jobs name their partition and no node, and nodes have pools of these names, but the records do
// not say that they are the same.
void note_partitions(const AdviceInput& input, const FleetView& fleet,
                     std::vector<std::string>& gaps) {
  std::set<std::string_view> pools;
  for (std::uint32_t node = 0; node < fleet.nodes().size(); ++node) {
    pools.insert(fleet.any_fact(node).pool.text());
  }
  if (pools.size() < 2) return;
  std::size_t jobs = 0;
  for (const Holding& holding : input.facts.holdings) {
    const auto* in_pool = std::get_if<InPool>(&holding.placement);
    const auto partition = holding.labels.find("partition");
    const bool is_anywhere = in_pool != nullptr && in_pool->pools.empty();
    if (is_anywhere && partition && pools.contains(*partition)) ++jobs;
  }
  if (jobs == 0) return;
  gaps.push_back(
      fmt::format("{} {} a partition that is also the name of a pool, and count as if any node of "
                  "the cluster had held them: if partitions are pools, set "
                  "clusters[].partitions_are_pools and import them again",
                  jobs, jobs == 1 ? "job names" : "jobs name"));
}

// Advice about work: idle GPUs, other models, MIG, spot and time limits. `released`: the hours in
// which nodes would go.
Result<void> advise_on_work(const AdviceInput& input, const FleetView& fleet,
                            const FleetHours& hours, const NodeBill& bill, Advice& advice,
                            std::map<std::uint32_t, HourFlags>& released) {
  const ClusterMonth& facts = input.facts;
  ActivityProfiles profiles(
      facts, fleet, input.policy.usage, input.period, [&](const Holding& holding) {
        return resolve_dimensions(facts.cluster, holding.workload, holding.labels, input.policy);
      });
  for (std::uint32_t i = 0; i < facts.holdings.size(); ++i) {
    const auto team = profiles.owner_of(i).find(input.team_dimension);
    if (team) advice.teams.emplace(*team);
  }
  if (input.telemetry) {
    TRY(input.telemetry(profiles));
  }
  profiles.complete();
  if (hours.hours() < kRecordedHoursMin) {
    advice.gaps.push_back(
        fmt::format("the bill covers {} hours of the month; advice about work takes {}",
                    hours.hours(), kRecordedHoursMin));
    return {};
  }
  if (profiles.samples() == 0) {
    advice.gaps.push_back(
        "no telemetry of the period: idle GPUs and smaller GPUs are not looked for. Connect "
        "dcgm-exporter, or import what nvidia-smi says");
  }
  if (profiles.impossible() > 0) {
    advice.gaps.push_back(fmt::format(
        "{} samples are impossible (over 100 %, or more memory used than there is) and were left "
        "out: see the exporter",
        profiles.impossible()));
  }
  if (profiles.samples() > 0 && profiles.profiles().empty()) {
    advice.gaps.push_back(
        "no sample falls on a GPU that one job or pod had for itself: records have to name nodes "
        "or GPUs, and the inventory the GPUs of each node");
  }
  IdleAdvice idle = propose_idle(facts, fleet, hours, bill, profiles, input.outages, input.policy,
                                 input.period, input.manager);
  append(advice.proposals, std::move(idle.proposals));
  released = std::move(idle.released);
  const auto works = find_work_on_nodes(facts, fleet, hours, input.policy, input.manager);
  RightSizeAdvice sizes = propose_right_sizes(facts.cluster, profiles, works, fleet, hours, bill,
                                              released, facts.catalog, input.prices_at);
  append(advice.proposals, std::move(sizes.proposals));
  std::move(sizes.gaps.begin(), sizes.gaps.end(), std::back_inserter(advice.gaps));
  append(advice.proposals, propose_mig_layouts(facts, profiles, fleet, hours, bill, released,
                                               input.policy, input.manager));
  append(advice.proposals, propose_sharing(facts, profiles, fleet, hours, bill, released,
                                           input.policy, input.manager));
  append(advice.proposals,
         propose_autoscaling(facts, profiles, works, fleet, hours, bill, released));
  SpotAdvice spot = propose_spot(facts, profiles, works, fleet, hours, bill, released,
                                 input.prices_at, input.manager);
  append(advice.proposals, std::move(spot.proposals));
  std::move(spot.gaps.begin(), spot.gaps.end(), std::back_inserter(advice.gaps));
  if (!facts.charges.empty()) {
    const Currency currency = (facts.charges.front().costs.*input.cost).currency();
    append(advice.proposals, propose_time_limits(facts, profiles, currency));
  }
  return {};
}

}  // namespace

void rank(std::vector<Proposal>& proposals) {
  std::sort(proposals.begin(), proposals.end(), [](const Proposal& a, const Proposal& b) {
    return std::tuple(a.monthly.expected.currency().text(), -a.monthly.expected.ticks(),
                      -a.monthly.high.ticks(), std::string_view(a.id)) <
           std::tuple(b.monthly.expected.currency().text(), -b.monthly.expected.ticks(),
                      -b.monthly.high.ticks(), std::string_view(b.id));
  });
}

Result<Advice> advise(const AdviceInput& input) {
  Advice advice;
  const ClusterMonth& facts = input.facts;
  const FleetView fleet(facts.nodes, facts.gpus, facts.catalog, facts.join_rules);
  const NodeBill bill(facts.charges, fleet, input.cost);
  append(advice.proposals,
         find_unused_commitments(facts.cluster, facts.charges, input.cost, input.period));
  if (fleet.nodes().empty()) {
    advice.gaps.push_back("no nodes are known: import an inventory, or watch the cluster");
    rank(advice.proposals);
    return advice;
  }
  if (bill.charged_together() > 0) {
    advice.gaps.push_back(fmt::format(
        "{} nodes are charged together with others of their pool, so what one of them saves is not "
        "known: import a bill by node",
        bill.charged_together()));
  }
  note_partitions(input, fleet, advice.gaps);
  const FleetHours hours(facts, fleet, input.outages, input.policy, input.period);
  std::map<std::uint32_t, HourFlags> released;  // by advice about idle work
  TRY(advise_on_work(input, fleet, hours, bill, advice, released));
  if (hours.recorded_hours() < kRecordedHoursMin) {
    advice.gaps.push_back(fmt::format(
        "{} hours of the period have records of jobs or pods; advice about nodes and commitments "
        "takes {} at least: import what ran",
        hours.recorded_hours(), kRecordedHoursMin));
    rank(advice.proposals);
    return advice;
  }
  if (hours.recorded_hours() < hours.hours()) {
    advice.gaps.push_back(
        fmt::format("{} of {} hours have no record of a job or pod within a day, and nothing is "
                    "said about them",
                    hours.hours() - hours.recorded_hours(), hours.hours()));
  }
  NodeReleases releases = propose_node_releases(facts.cluster, fleet, hours, bill, facts.catalog,
                                                work_manager_of(facts.holdings, input.manager));
  for (const auto& [node, gone] : released) {
    for (std::size_t hour = 0; hour < gone.size(); ++hour) {
      if (gone[hour]) releases.kept[node][hour] = false;
    }
  }
  CommitmentAdvice commitments = propose_commitments(facts.cluster, fleet, hours, bill,
                                                     releases.kept, facts.catalog, input.prices_at);
  append(advice.proposals, std::move(releases.proposals));
  std::move(releases.gaps.begin(), releases.gaps.end(), std::back_inserter(advice.gaps));
  append(advice.proposals, std::move(commitments.proposals));
  std::move(commitments.gaps.begin(), commitments.gaps.end(), std::back_inserter(advice.gaps));
  rank(advice.proposals);
  return advice;
}

}  // namespace pennyweight::advising
