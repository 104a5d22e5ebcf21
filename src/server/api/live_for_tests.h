// A small live view for the tests of this module.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/card_share.h"
#include "reporting/live/live_rows.h"

namespace pennyweight::api {

inline const Instant kLook = *parse_instant("2026-03-04T08:05:00Z");
inline const Interval kLookWindow(kLook - std::chrono::minutes(5), kLook);

// Holds `gpus` GPUs of a node at 3 EUR an hour each, half of it idle.
inline LiveShare live_share(const std::string& workload, const std::string& team,
                            const std::string& node, std::uint64_t gpus) {
  const auto length = static_cast<std::uint64_t>(kLookWindow.length_ms());
  const GpuTime time = GpuTime::of(UInt128{CardShare::kUnitsPerCard} * gpus * length);
  const Money cost =
      Money::from_ticks(Int128{Money::kTicksPerUnit} * 3 * static_cast<Int128>(gpus) / 12, kEur);
  LiveShare share{.workload = WorkloadId(workload),
                  .labels = {},
                  .dimensions = {},
                  .nodes = {NodeId(node)},
                  .gpus = {},
                  .device = "gpu",
                  .since = kLookWindow.begin(),
                  .running = !workload.empty(),
                  .cost = cost,
                  .idle_cost = Money::from_ticks(cost.ticks() / 2, kEur),
                  .gpu_time = time,
                  .observed_time = time,
                  .idle_time = GpuTime::of(time.count() / 2)};
  if (!team.empty()) (void)share.dimensions.set("team", team);
  return share;
}

// Cluster lab, of nodes with 24 EUR an hour together and 8 GPUs.
inline LiveView live_view(std::vector<LiveShare> shares) {
  LiveCosts recent{.window = kLookWindow,
                   .shares = std::move(shares),
                   .notes = {"node n9 has no price"},
                   .nodes_unpriced = 1,
                   .price_per_hour = Money::from_units(24, kEur),
                   .gpus = 8};
  recent.node_prices.emplace(NodeId("n1"), Money::from_units(12, kEur));
  recent.node_prices.emplace(NodeId("n2"), Money::from_units(12, kEur));
  LiveView view{.at = kLook, .clusters = {}};
  LiveCluster lab{.cluster = ClusterId("lab"), .recent = std::move(recent), .today = {}};
  EarlierCosts earlier;
  const auto add = [&](const char* workload, const char* team, std::int64_t euros) {
    EarlierCost cost{.dimensions = {}, .cost = Money::from_units(euros, kEur)};
    (void)cost.dimensions.set("team", team);
    earlier.emplace(WorkloadId(workload), std::move(cost));
  };
  add("a", "nlp", 100);
  add("b", "cv", 200);
  lab.earlier = std::make_shared<const EarlierCosts>(std::move(earlier));
  view.clusters.emplace(ClusterId("lab"), std::move(lab));
  return view;
}

}  // namespace pennyweight::api
