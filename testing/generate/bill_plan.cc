#include "testing/generate/bill_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/split.h"
#include "core/try.h"
#include "testing/generate/random.h"

namespace pennyweight {
namespace {

constexpr auto kPeriodMax = std::chrono::days(3660);

Result<Interval> period_of(const BillOptions& options) {
  if (options.last_day < options.first_day) {
    return fail(ErrorCode::kConfig, "the last day of the bill is before its first");
  }
  if (options.last_day - options.first_day >= kPeriodMax) {
    return fail(ErrorCode::kLimit, fmt::format("a bill of more than {} days", kPeriodMax.count()));
  }
  return Interval(options.first_day, options.last_day + std::chrono::days(1));
}

Result<void> check_shares(const BillOptions& options) {
  struct Share {
    std::string_view name;
    std::uint64_t per_mille;
  };
  const Share shares[] = {
      {"on_demand + spot", std::uint64_t{options.on_demand_per_mille} + options.spot_per_mille},
      {"negotiated discount", options.negotiated_discount_per_mille},
      {"spot discount", options.spot_discount_per_mille},
      {"commitment discount", options.commitment_discount_per_mille},
      {"spare commitment", options.spare_commitment_per_mille},
      {"support", options.support_per_mille},
      {"tax", options.tax_per_mille},
  };
  for (const Share& share : shares) {
    if (share.per_mille <= 1000) continue;
    return fail(ErrorCode::kConfig, fmt::format("{} of {} thousandths is more than all of it",
                                                share.name, share.per_mille));
  }
  return {};
}

std::string node_text(const Node& node) {
  return fmt::format("node {} of cluster {}", node.name.text(), node.cluster.text());
}

std::optional<Interval> presence_of(const Node& node, const Interval& period) {
  return Interval::of(std::max(node.from, period.begin()),
                      node.to ? std::min(*node.to, period.end()) : period.end());
}

// Nodes of the period in a stable order. A machine is never billed twice at the same time.
Result<std::vector<PlannedNode>> nodes_of_period(std::span<const Node> nodes,
                                                 const Interval& period, std::uint64_t seed) {
  std::vector<PlannedNode> planned;
  for (const Node& node : nodes) {
    const auto present = presence_of(node, period);
    if (!present) continue;
    if (node.instance_type.empty()) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{} has no instance type, so it has no price", node_text(node)));
    }
    const std::string key =
        fmt::format("{}\n{}\n{}", node.cluster.text(), node.name.text(), unix_ms(node.from));
    planned.push_back(
        {.node = &node,
         .present = *present,
         .resource_id = node.provider_id.empty() ? node.name.text() : node.provider_id,
         .key = Random(seed, key).next(),
         .commitment = 0});
  }
  std::sort(planned.begin(), planned.end(), [](const PlannedNode& a, const PlannedNode& b) {
    return std::tie(a.node->cluster, a.node->name, a.present) <
           std::tie(b.node->cluster, b.node->name, b.present);
  });
  for (std::size_t i = 1; i < planned.size(); ++i) {
    const PlannedNode& before = planned[i - 1];
    const PlannedNode& after = planned[i];
    if (before.node->cluster == after.node->cluster && before.node->name == after.node->name &&
        before.present.overlap(after.present)) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{} appears twice at {}; remove one of the rows",
                              node_text(*after.node), to_text(after.present.begin())));
    }
  }
  if (planned.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("no node is there during {}", to_text(period)));
  }
  return planned;
}

using CommitmentKey = std::tuple<std::string, std::string, std::string>;  // cluster, type, region

CommitmentKey commitment_key(const Node& node, const BillOptions& options) {
  return {node.cluster.text(), node.instance_type,
          node.region.empty() ? options.region : node.region};
}

// Assigns terms to the nodes of one kind, in exactly the requested shares: in a random order, the
// first nodes are on demand, the next are spot, and the rest are reserved.
void deal_terms(std::vector<PlannedNode*>& alike, const BillOptions& options) {
  std::sort(alike.begin(), alike.end(), [](const PlannedNode* a, const PlannedNode* b) {
    return std::tie(a->key, a->node->name) < std::tie(b->key, b->node->name);
  });
  const std::array<Weight, 3> shares = {
      options.on_demand_per_mille, options.spot_per_mille,
      1000 - options.on_demand_per_mille - options.spot_per_mille};
  const auto counts = split_units(alike.size(), shares);
  for (std::size_t i = 0; i < alike.size(); ++i) {
    alike[i]->term = i < counts[0]               ? NodeTerm::kOnDemand
                     : i < counts[0] + counts[1] ? NodeTerm::kSpot
                                                 : NodeTerm::kReserved;
  }
}

// How a provider names its commitments.
std::string commitment_id(const BillOptions& options, std::string_view account,
                          const CommitmentKey& key) {
  const auto& [cluster, instance_type, region] = key;
  const std::string hash = to_text(Fingerprint()
                                       .add(static_cast<std::int64_t>(options.seed))
                                       .add(cluster)
                                       .add(instance_type)
                                       .add(region)
                                       .hash());
  if (options.provider != "aws") return "commitment-" + hash;
  return fmt::format("arn:aws:ec2:{}:{}:reserved-instances/{}-{}-{}-{}-{}", region, account,
                     hash.substr(0, 8), hash.substr(8, 4), hash.substr(12, 4), hash.substr(16, 4),
                     hash.substr(20));
}

// In thousandths of an instance; at least one instance more than the nodes, so that some of it is
// unused.
std::uint64_t with_spare(std::uint64_t reserved, std::uint32_t spare_per_mille) {
  return reserved * 1000 + std::max<std::uint64_t>(1, reserved * spare_per_mille);
}

}  // namespace

std::string account_number(std::uint64_t seed, std::string_view of) {
  return fmt::format("{:012}", Random(seed, of).between(100'000'000'000, 999'999'999'999));
}

Result<BillPlan> plan_bill(std::span<const Node> nodes, const BillOptions& options) {
  TRY(check_shares(options));
  const auto period = period_of(options);
  if (!period) return std::unexpected(period.error());
  auto planned = TRY(nodes_of_period(nodes, *period, options.seed));

  BillPlan plan{.period = *period,
                .nodes = std::move(planned),
                .commitments = {},
                .clusters = {},
                .account_id = account_number(options.seed, "billing account")};
  std::map<CommitmentKey, std::vector<PlannedNode*>> alike;
  for (PlannedNode& planned_node : plan.nodes) {
    const CommitmentKey key = commitment_key(*planned_node.node, options);
    alike[key].push_back(&planned_node);
    // Nodes are in the order of their clusters.
    if (plan.clusters.empty() || plan.clusters.back().name != std::get<0>(key)) {
      plan.clusters.push_back({.name = std::get<0>(key), .region = std::get<2>(key)});
    }
  }
  for (auto& [key, group] : alike) {
    deal_terms(group, options);
    std::uint64_t reserved = 0;
    for (PlannedNode* planned_node : group) {
      if (planned_node->term != NodeTerm::kReserved) continue;
      planned_node->commitment = plan.commitments.size();
      ++reserved;
    }
    if (reserved == 0) continue;
    plan.commitments.push_back(
        {.cluster = std::get<0>(key),
         .instance_type = std::get<1>(key),
         .region = std::get<2>(key),
         .id = commitment_id(options, plan.account_id, key),
         .milli_instances = with_spare(reserved, options.spare_commitment_per_mille)});
  }
  return plan;
}

}  // namespace pennyweight
