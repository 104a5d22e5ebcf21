// LiveRow: one workload of one cluster in the live view: its current cost per hour, and its cost
// today and this month.
//
// The cost per hour comes from the last minutes in which the workload ran. Unallocated cost is the
// rest of the nodes' price per hour, so that the rows of a cluster add up to the price of its nodes
// even in the minute in which a job begins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reporting/live/live_costs.h"
#include "reporting/table.h"

namespace pennyweight {

// The latest state of one cluster.
struct LiveCluster {
  ClusterId cluster;
  LiveCosts recent;                // the last minutes, for costs per hour
  std::optional<LiveCosts> today;  // since local midnight; absent: not allocated yet
  // The ledger's cost of workloads this month before today.
  std::map<WorkloadId, Money> earlier = {};
};

struct LiveView {
  Instant at;
  std::map<ClusterId, LiveCluster> clusters;
};

struct LiveRow {
  ClusterId cluster{""};
  const LiveShare* recent = nullptr;  // one of the two is set, unless the row is unallocated
  const LiveShare* today = nullptr;
  bool is_unallocated = false;
  bool runs = false;  // always true of the unallocated row
  std::optional<Money> hour;
  std::optional<Money> idle_hour;  // of it, held and not used
  std::optional<Money> cost_today;
  std::optional<Money> cost_month;  // the days in the ledger, and today
  std::uint64_t gpu_milli = 0;      // thousandths of GPUs, while it runs

  // REQUIRES: one of the two is set.
  const LiveShare& share() const { return recent != nullptr ? *recent : *today; }
};

// The used part of the held GPUs over the observed time; absent without any.
std::optional<Ratio> busy_ratio(const LiveRow& row);

// "8", "1.5", from thousandths of GPUs.
std::string gpus_text(std::uint64_t milli);

// By cluster and workload. The unallocated row of a cluster with idle GPUs or cost comes first. The
// rows point into `view`.
std::vector<LiveRow> live_rows(const LiveView& view);

}  // namespace pennyweight
