#include "insight/advice/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "insight/advice/commitments.h"
#include "insight/advice/release_nodes.h"

namespace pennyweight::advising {
namespace {

void append(std::vector<Proposal>& all, std::vector<Proposal> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
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

Advice advise(const AdviceInput& input) {
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
  const FleetHours hours(facts, fleet, input.outages, input.policy, input.period);
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
  NodeReleases releases = propose_node_releases(facts.cluster, fleet, hours, bill, facts.catalog);
  CommitmentAdvice commitments = propose_commitments(facts.cluster, fleet, hours, bill,
                                                     releases.kept, facts.catalog, input.prices_at);
  append(advice.proposals, std::move(releases.proposals));
  append(advice.proposals, std::move(commitments.proposals));
  std::move(commitments.gaps.begin(), commitments.gaps.end(), std::back_inserter(advice.gaps));
  rank(advice.proposals);
  return advice;
}

Portfolio combine(std::span<const Proposal> proposals) {
  std::map<std::string_view, std::size_t> best;  // of each set of alternatives
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    if (proposals[i].alternatives_of.empty()) continue;
    const auto [at, is_new] = best.try_emplace(proposals[i].alternatives_of, i);
    if (!is_new &&
        proposals[at->second].monthly.expected.ticks() < proposals[i].monthly.expected.ticks()) {
      at->second = i;
    }
  }
  Portfolio portfolio;
  std::map<Currency, MonthlySaving> sums;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const Proposal& each = proposals[i];
    const bool is_chosen = each.alternatives_of.empty() || best.at(each.alternatives_of) == i;
    portfolio.chosen.push_back(is_chosen);
    if (!is_chosen) continue;
    const Money none = Money::zero(each.monthly.expected.currency());
    MonthlySaving& sum =
        sums.try_emplace(none.currency(), MonthlySaving{none, none, none}).first->second;
    sum.low += each.monthly.low;
    sum.expected += each.monthly.expected;
    sum.high += each.monthly.high;
  }
  for (const auto& [currency, sum] : sums) portfolio.totals.push_back(sum);
  return portfolio;
}

}  // namespace pennyweight::advising
