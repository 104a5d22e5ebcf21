// The fleet as tiles: each node with its GPUs, who holds them and how busy they are.
//
// A workload is shown on the GPUs that its holding names, or on which telemetry saw it. If the
// holding names only a node and a number of GPUs, it is shown on free GPUs of that node, in order,
// and marked as not placed for certain.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/instant.h"
#include "reporting/live/live_rows.h"
#include "server/api/scoped_queries.h"

namespace pennyweight::api {

struct GpuHolder {
  std::string workload;   // empty: outside the user's scope, not named
  std::string share;      // of the GPU: "1", "0.5", "1g.10gb"
  std::string owner;      // the workload's user, else its team; may be empty
  bool is_placed = true;  // false: on this node, but perhaps on another GPU
};

struct FleetGpu {
  std::uint32_t index = 0;
  std::string uuid, model;
  std::vector<std::string> mig;
  std::vector<GpuHolder> holders;
  // Means of the last minutes, from 0 to 1; nothing: no telemetry.
  std::optional<std::string> busy, memory;
};

struct FleetNode {
  const Node* node = nullptr;
  std::vector<FleetGpu> cards;
  std::optional<Money> price_per_hour;  // nothing: unknown, or not visible to the user
};

struct FleetInput {
  const FleetFacts& facts;
  // Whether a workload may be named.
  std::function<bool(const ClusterId&, const LiveShare&)> sees;
  bool is_scoped = false;  // show only the part of prices that the scope pays
};

// The nodes by cluster and name.
std::vector<FleetNode> list_fleet_nodes(const FleetInput& input);

}  // namespace pennyweight::api
