// LiveRow: one workload of one cluster in the live view: its current cost per hour, and its cost
// today and this month.
//
// The cost per hour comes from the last minutes in which the workload ran. Unallocated cost is the
// rest of the nodes' price per hour, so that the rows of a cluster add up to the price of its nodes
// even in the minute in which a job begins.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reporting/live/live_costs.h"
#include "reporting/table.h"

namespace pennyweight {

// The cost of a workload, or (without one) of unallocated capacity, this month before today.
struct EarlierCost {
  Labels dimensions;
  Money cost;
};
using EarlierCosts = std::map<WorkloadId, EarlierCost>;

// The latest state of one cluster.
struct LiveCluster {
  ClusterId cluster;
  LiveCosts recent;                // the last minutes, for costs per hour
  std::optional<LiveCosts> today;  // since local midnight; absent: not allocated yet
  // This month before today, of workloads that have ended, too: what the ledger says of the days
  // that are settled, and what was allocated in memory of a day that is not yet. Shared, since
  // views are many and months long. Null: not read yet.
  std::shared_ptr<const EarlierCosts> earlier = {};
  // Whether a source reports what runs there; false: only imports say what once ran.
  bool is_watched = true;
};

struct LiveView {
  Instant at;
  std::map<ClusterId, LiveCluster> clusters;
};

struct LiveRow {
  ClusterId cluster{""};
  const LiveShare* recent = nullptr;  // one of the three is set, unless the row is unallocated
  const LiveShare* today = nullptr;
  // Workloads that ended before today, those of equal dimensions together.
  std::shared_ptr<const LiveShare> ended = {};
  bool is_unallocated = false;
  bool runs = false;  // always true of the unallocated row
  std::optional<Money> hour;
  std::optional<Money> idle_hour;  // of it, held and not used
  std::optional<Money> cost_today;
  std::optional<Money> cost_month;  // the days in the ledger, and today
  std::uint64_t gpu_milli = 0;      // thousandths of GPUs, while it runs

  // REQUIRES: one of the three is set.
  const LiveShare& share() const {
    if (recent != nullptr) return *recent;
    return today != nullptr ? *today : *ended;
  }
  // Some of its nodes have no price: its costs leave out what it held there.
  bool is_partly_priced() const {
    return (recent != nullptr && recent->is_partly_priced) ||
           (today != nullptr && today->is_partly_priced);
  }
};

// The used part of the held GPUs over the observed time; absent without any. By time and not by
// cost: it is known of nodes without a price too.
std::optional<Ratio> busy_ratio(const LiveRow& row);

// When the time limit of what runs ends it, counted from its begin. Absent where no label says it:
// jobs of Slurm have one.
std::optional<Instant> time_limit_end(const LiveRow& row);

// What it costs from now until then, at its present cost per hour; zero once the limit is over.
// Absent without a limit or a price.
std::optional<Money> cost_to_time_limit(const LiveRow& row, Instant now);

// "8", "1.5", from thousandths of GPUs.
std::string gpus_text(std::uint64_t milli);

// The name of the rows of workloads that ended before today.
inline constexpr const char* kEndedBeforeToday = "(ended before today)";

// By cluster and workload. The unallocated row of a cluster with idle GPUs or cost comes first. The
// rows point into `view`.
std::vector<LiveRow> live_rows(const LiveView& view);

// A view and its rows, which are made once where several ask for them. They point into the view.
struct ViewRows {
  std::shared_ptr<const LiveView> view;
  std::vector<LiveRow> rows;
};
// REQUIRES: `view` is not null.
std::shared_ptr<const ViewRows> view_rows(std::shared_ptr<const LiveView> view);

}  // namespace pennyweight
