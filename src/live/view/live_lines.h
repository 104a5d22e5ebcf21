// LiveLine: one workload of one cluster, as the live view of it knows it: what an hour of it costs
// now, what it has cost today and this month.
//
// What an hour costs is taken from the last minutes, of the time in which the workload ran. What
// nobody holds is the rest of what an hour of the nodes costs, so that the lines of a cluster add
// up to the price of its nodes also in the minute in which a job begins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/view/live_costs.h"
#include "report/table.h"

namespace pennyweight {

// One cluster as it was last looked at.
struct LiveCluster {
  ClusterId cluster;
  LiveCosts recent;                // the last minutes: what an hour costs
  std::optional<LiveCosts> today;  // since local midnight; nothing: not divided yet
  // What the ledger has of this month before today, of workloads.
  std::map<WorkloadId, Money> earlier = {};
};

struct LiveView {
  Instant at;
  std::map<ClusterId, LiveCluster> clusters;
};

struct LiveLine {
  ClusterId cluster{""};
  const LiveShare* recent = nullptr;  // one of both is there, or it is of nobody
  const LiveShare* today = nullptr;
  bool is_nobody = false;
  bool runs = false;  // nobody always does
  std::optional<Money> hour;
  std::optional<Money> idle_hour;  // of it, held and not used
  std::optional<Money> cost_today;
  std::optional<Money> cost_month;  // the ledger's days, and today
  std::uint64_t gpu_milli = 0;      // thousandths of cards, while it runs

  // REQUIRES: one of both is there.
  const LiveShare& share() const { return recent != nullptr ? *recent : *today; }
};

// How much of the GPUs that are held is used, of the time in which it was seen; nothing: it was
// not.
std::optional<Ratio> busy_of(const LiveLine& line);

// "8", "1.5", of thousandths of cards.
std::string gpus_text(std::uint64_t milli);

// By cluster and workload; of a cluster with cards or cost that nobody holds, that line first.
// They look into `view`.
std::vector<LiveLine> live_lines(const LiveView& view);

}  // namespace pennyweight
