// For tests: a scope, written down posting by posting, and what distribute() makes of it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "allocation/distribute.h"

namespace pennyweight::distribute_test {

using std::chrono::sys_days;

inline sys_days day(unsigned of_march) {
  return sys_days(std::chrono::year(2026) / std::chrono::March / std::chrono::day(of_march));
}

inline Interval whole(sys_days date) {
  return {Instant(date), Instant(date) + std::chrono::hours(24)};
}

inline Money usd(const char* text) { return Money::from_decimal(*parse_exact_decimal(text), kUsd); }
inline Money eur(const char* text) { return Money::from_decimal(*parse_exact_decimal(text), kEur); }

// Four costs that differ, so that a mix-up shows: effective is the amount itself.
inline Costs costs_of(Money amount) {
  return {amount + amount, amount, amount + amount + amount, -amount};
}

inline Labels owner(std::initializer_list<Labels::Entry> entries) {
  Labels labels;
  for (const auto& [key, value] : entries) EXPECT_TRUE(labels.set(key, value).has_value());
  return labels;
}
inline Labels team(const std::string& name) {
  Labels labels;
  EXPECT_TRUE(labels.set("team", name).has_value());
  return labels;
}

inline SpreadRule rule(PostingKind kind, Spread how) {
  SpreadRule made;
  made.kind = kind;
  made.how = how;
  if (how != Spread::kProportional) made.dimension = "team";
  return made;
}

// A scope, written down posting by posting.
struct TestScope {
  std::string cluster = "c";
  std::vector<Posting> postings;
  std::vector<WorkloadDimensions> dimensions;
  std::vector<Node> nodes;
  std::vector<Charge> charges;
  std::vector<Correction> corrections;
  std::vector<DistributionInput::OtherScopeCost> other_scopes;
  Policy policy;

  TestScope() { policy.dimensions = {{"team", {"team"}, "(unowned)"}}; }

  Posting& post(PostingKind kind, const std::string& workload, Money amount, unsigned of_march = 1,
                Component component = Component::kGpu, const std::string& node = "") {
    postings.push_back({.charge = {},
                        .kind = kind,
                        .component = component,
                        .interval = whole(day(of_march)),
                        .day = day(of_march),
                        .node = NodeId(node),
                        .gpu = GpuId(""),
                        .workload = WorkloadId(workload),
                        .holding = std::nullopt,
                        .weight = 1,
                        .costs = costs_of(amount),
                        .gpu_time = {},
                        .memory_time = {},
                        .observed_time = {}});
    return postings.back();
  }
  Posting& used(const std::string& workload, Money amount, unsigned of_march = 1,
                Component component = Component::kGpu, const std::string& node = "") {
    return post(PostingKind::kUsed, workload, amount, of_march, component, node);
  }
  Posting& idle(Money amount, unsigned of_march = 1, Component component = Component::kGpu,
                const std::string& node = "") {
    return post(PostingKind::kUnallocated, "", amount, of_march, component, node);
  }
  void is_of(const std::string& workload, const Labels& labels) {
    dimensions.push_back({WorkloadId(workload), labels});
  }
  // Workloads "a", "b", … that belong to the teams of the same names.
  void teams(std::initializer_list<const char*> names) {
    for (const char* name : names) is_of(name, team(name));
  }
  void node(const std::string& name, const std::string& pool) {
    nodes.push_back({.cluster = ClusterId(cluster),
                     .name = NodeId(name),
                     .provider_id = {},
                     .instance_type = {},
                     .region = {},
                     .pool = PoolId(pool),
                     .gpu_model = {},
                     .cpu_milli = {},
                     .memory_bytes = {},
                     .from = Instant(day(1)),
                     .to = {},
                     .id = {},
                     .source = {}});
  }

  Distribution distribute() const {
    return pennyweight::distribute({.cluster = ClusterId(cluster),
                                    .month = "2026-03",
                                    .postings = postings,
                                    .dimensions = dimensions,
                                    .nodes = nodes,
                                    .charges = charges,
                                    .corrections = corrections,
                                    .other_scopes = other_scopes,
                                    .policy = policy});
  }
};

// What each owner gets, effective, of one currency: "a" for {team: a}, "" for the bucket, else the
// workload itself.
inline std::map<std::string, std::string> moved(const Distribution& distribution,
                                                Currency currency = kUsd) {
  std::map<std::string, Money> sums;
  for (const Posting& posting : distribution.transfers) {
    if (posting.costs.currency() != currency) continue;
    std::string who = posting.workload.text();
    const auto labels = parse_owner_workload(posting.workload);
    if (labels && labels->entries().size() == 1 && labels->find("team")) {
      who = std::string(*labels->find("team"));
    }
    sums.try_emplace(who, Money::zero(currency)).first->second += posting.costs.effective;
  }
  std::map<std::string, std::string> texts;
  for (const auto& [who, sum] : sums) texts[who] = to_text(sum.amount());
  return texts;
}
using Moved = std::map<std::string, std::string>;

inline Correction correction(const char* name, const char* begin, const char* end, Labels from,
                             Labels to, Money amount) {
  Correction made(ClusterId("c"), name, {*parse_instant(begin), *parse_instant(end)}, amount);
  made.from = std::move(from);
  made.to = std::move(to);
  return made;
}

}  // namespace pennyweight::distribute_test
