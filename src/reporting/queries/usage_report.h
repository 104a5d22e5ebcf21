// UsageReport: what telemetry saw of GPUs, or of those who held them: how busy, how much of their
// memory, how much energy, and how much of the time was seen at all.
//
// Rows are either of devices (every dimension is a GPU's or its node's) or of holders. Among the
// holders of a GPU
//   - energy is divided at every moment by the part of the GPU's compute that each holds. A holding
//     that names a node and not its GPUs holds the same part of each GPU of the node. What nobody
//     holds takes its part too: those rows are "(nobody)". So rows add up to what the GPUs took;
//   - utilisation is a holder's own only where it is known to be: the holder has the GPU, the MIG
//     instance or the whole node to itself, or telemetry names the workload. Else it is not seen.
// Sums are whole numbers, and a holding is cut at the borders of rows, so days add up to the month.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/gpu_memory.h"
#include "allocation/policy/policy.h"
#include "allocation/utilization.h"
#include "core/billing_period.h"
#include "core/int128.h"
#include "core/quantity.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/summary.h"
#include "reporting/queries/card_energy.h"
#include "reporting/queries/holding_dimensions.h"

namespace pennyweight {

enum class UsageStep { kNone, kMinute, kHour, kDay, kWeek, kMonth };
std::optional<UsageStep> parse_usage_step(std::string_view text);  // "none", "minute", …

struct UsageMeasures {
  GpuTime there;     // held; of devices: there to be held
  GpuTime seen;      // of it, with a known utilisation
  UInt128 busy = 0;  // utilisation (CardShare units) times share (the same) times milliseconds
  std::uint32_t peak = 0;  // the highest utilisation, in CardShare units
  // GPU time by utilisation in whole permille, for percentiles.
  std::map<std::uint16_t, UInt128> histogram;
  GpuTime memory_seen;
  UInt128 memory = 0;  // used part of the device's memory, as `busy`
  // In energy units (card_energy.h). Not negative where it is more than a unit: a smaller part of a
  // part may be rounded to one unit less than nothing, which its neighbours have more.
  Int128 energy = 0;
  GpuTime energy_seen;  // of the time, with a known energy

  UsageMeasures& operator+=(const UsageMeasures& other);
  // The lowest utilisation that the GPUs were at or below for 95 % of the time seen, in permille.
  std::optional<std::uint64_t> p95_permille() const;
};

struct UsageOptions {
  std::vector<std::string> by;         // dimensions of holdings, "gpu", and of devices "instance"
  std::vector<SummaryFilter> filters;  // of the same
  UsageStep step = UsageStep::kNone;
  std::size_t rows_max = std::numeric_limits<std::size_t>::max();
};

struct UsageKey {
  std::string bucket;  // "2026-03-01", or an hour or minute of UTC: "2026-03-01T08:00:00Z"
  std::vector<std::string> keys;
  auto operator<=>(const UsageKey&) const = default;
};

// What a cluster's telemetry says of a day.
struct ObservedDay {
  ClusterId cluster;
  Interval during;  // a local day, or a part of it
  ObservedUtilization utilization;
  std::map<GpuId, std::vector<EnergySegment>> energy;
  std::map<GpuId, NodeId> nodes;  // of GPUs that samples were of, as they name their node
};

class UsageReport {
 public:
  // REQUIRES: what is passed outlives this.
  UsageReport(const UsageOptions& options, const Policy& policy, const std::vector<Node>& nodes,
              const std::vector<Gpu>& gpus);

  // How nodes were bought. Before anything is added; without it they have no price_tier.
  void set_price_tiers(NodePriceTiers tiers) { values_.set_price_tiers(std::move(tiers)); }

  // Whether rows are of holders: then add_day() needs the holdings that overlap the day.
  bool is_of_holders() const { return is_of_holders_; }
  void add_day(const ObservedDay& day, std::span<const Holding> holdings);

  const std::map<UsageKey, UsageMeasures>& rows() const { return rows_; }
  // Whether there would have been more rows than `rows_max`: what came after is not in the report.
  bool has_too_many() const { return has_too_many_; }
  const UsageMeasures& total() const { return total_; }
  // Holdings of which only a pool is known: their energy is "(nobody)"'s.
  std::uint64_t without_gpu() const { return without_gpu_; }

 private:
  struct ReportedGpu;
  struct Holder;
  struct Entry;
  struct DayView;

  void add_devices(const DayView& view, const ReportedGpu& card);
  void add_holders(const DayView& view, const ReportedGpu& card, std::vector<Entry> entries);
  void add_held(const DayView& view, const Holder& holder);
  void add_utilization(const DayView& view, const Interval& time, const std::string& device,
                       const std::string& workload, std::uint64_t share,
                       const std::vector<std::string>& keys);
  std::uint64_t memory_of(const Holding& holding, const ReportedGpu& card) const;
  std::optional<std::vector<std::string>> keys_of(const Holder* holder,
                                                  const ReportedGpu& card) const;
  void each_bucket(const Interval& time,
                   const std::function<void(const std::string&, const Interval&)>& take) const;
  void add(const std::string& bucket, const std::vector<std::string>& keys,
           const UsageMeasures& measures);

  UsageOptions options_;
  const Policy& policy_;
  const std::vector<Gpu>& gpus_;
  HoldingDimensions values_;
  GpuMemory gpu_memory_;
  bool is_of_holders_ = false;
  std::map<UsageKey, UsageMeasures> rows_;
  UsageMeasures total_;
  std::uint64_t without_gpu_ = 0;
  bool has_too_many_ = false;
};

}  // namespace pennyweight
