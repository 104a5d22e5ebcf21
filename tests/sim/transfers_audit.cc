#include "transfers_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "allocation/distribute.h"
#include "core/check.h"

namespace pennyweight::sim {
namespace {

Finding zero_by_day(const std::vector<Posting>& transfers) {
  std::map<std::pair<FactId, std::chrono::sys_days>, Costs> sums;
  for (const Posting& part : transfers) {
    const Costs none = Costs::zero(part.costs.currency());
    sums.try_emplace({part.charge, part.day}, none).first->second += part.costs;
    if (part.costs == none) return "a transfer has a part of nothing: " + describe(part);
    if (part.gpu_time != GpuTime() || part.memory_time != MemoryTime()) {
      return "a transfer moves time: " + describe(part);
    }
  }
  for (const auto& [key, sum] : sums) {
    if (!(sum == Costs::zero(sum.currency()))) {
      return fmt::format("transfer {} is not zero", to_text(key.first));
    }
  }
  return std::nullopt;
}

bool is_rule_for(const SpreadRule& rule, PostingKind kind) {
  return rule.kind == kind && rule.how != Spread::kKeep && rule.service_category.empty() &&
         rule.service_name.empty() && rule.charge_category.empty();
}

// A kind's bucket must be empty where no note says that something stays.
Finding moved_whole(const World& world, const std::vector<Posting>& postings,
                    const Distribution& distribution) {
  if (!distribution.notes.empty()) return std::nullopt;
  for (const SpreadRule& rule : world.policy.spread) {
    if (!is_rule_for(rule, rule.kind) || rule.kind == PostingKind::kOverhead) continue;
    Costs left = Costs::zero(kUsd);
    for (const auto* all : {&postings, &std::as_const(distribution.transfers)}) {
      for (const Posting& posting : *all) {
        const bool corrects = posting.component == Component::kWhole && all != &postings &&
                              rule.kind == PostingKind::kUnallocated;
        if (posting.kind == rule.kind && posting.workload.empty() && !corrects) {
          left += posting.costs;
        }
      }
    }
    const bool whole_lines = rule.kind == PostingKind::kUnallocated;  // a correction looks alike
    if (!whole_lines && !(left == Costs::zero(kUsd))) {
      return fmt::format("{} of {} is left without a note", to_text(left.effective.amount()),
                         to_text(rule.kind));
    }
  }
  return std::nullopt;
}

// Each owner in a transfer has dimensions, and its name reads back to them.
Finding owners_are_named(const Distribution& distribution) {
  std::map<WorkloadId, Labels> named;
  for (const auto& [workload, dimensions] : distribution.dimensions) named[workload] = dimensions;
  for (const Posting& part : distribution.transfers) {
    if (part.workload.empty()) continue;
    const auto owner = parse_owner_workload(part.workload);
    const auto found = named.find(part.workload);
    if (!owner || found == named.end() || found->second != *owner) {
      return "an owner without dimensions: " + describe(part);
    }
  }
  return std::nullopt;
}

}  // namespace

Finding audit_transfers(const World& world) {
  try {
    for (const auto& [cluster, facts] : by_cluster(world_facts(world))) {
      auto outcome = run_engine({{cluster, facts}}, world.policy, {});
      if (!outcome) return outcome.error();
      const auto distributed = [&] {
        return distribute({.cluster = cluster,
                           .month = world.month,
                           .postings = outcome->postings,
                           .dimensions = outcome->dimensions,
                           .nodes = facts.nodes,
                           .charges = facts.charges,
                           .corrections = facts.corrections,
                           .policy = world.policy});
      };
      const Distribution first = distributed();
      if (const Finding found = zero_by_day(first.transfers)) return found;
      if (const Finding found = moved_whole(world, outcome->postings, first)) return found;
      if (const Finding found = owners_are_named(first)) return found;
      std::reverse(outcome->postings.begin(), outcome->postings.end());
      const Distribution again = distributed();
      if (again.transfers != first.transfers || again.notes != first.notes) {
        return "other transfers for postings in another order";
      }
    }
  } catch (const InvariantError& broken) {
    return std::string("distribute() broke its own promise: ") + broken.what();
  }
  return std::nullopt;
}

}  // namespace pennyweight::sim
