// GpuUse: how much each GPU and MIG instance was used, whoever held it; for the utilisation audit.
//
// Means are by time of samples that are within their scale, in the metric that says most of those
// that cover nine tenths of what any covers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "insight/advice/activity_profile.h"
#include "insight/compare/collect_windows.h"
#include "insight/compare/fleet_view.h"
#include "ledger/usage.h"

namespace pennyweight::advising {

struct GpuUse {
  std::uint32_t node = 0;    // of the FleetView
  std::string gpu;           // its UUID; empty: of the node's GPUs that telemetry does not know
  std::string mig_instance;  // empty: the whole GPU
  std::string mig_profile;
  ActivityProfile seen;            // activity, memory, observed time; nothing about owners
  std::uint64_t memory_bytes = 0;  // that it has, as samples say; 0: not known
  std::map<std::string, std::uint64_t> held_by;  // observed ms, by work; "": by nobody
  std::uint64_t more = 0;  // how many further GPUs of the node are like it: not seen at all

  // The work that held it longest while it was observed; empty: none.
  std::string main_work() const;
};

class GpuUses {
 public:
  // REQUIRES: the arguments outlive it.
  GpuUses(const ClusterMonth& month, const FleetView& fleet, const UsageRules& rules,
          const Interval& period);

  // All samples of one GPU, or of several, in the order of Store::scan_usage().
  void add(std::span<const Usage> usages);

  // By node, GPU, instance. GPUs of known nodes that no sample is of come as one row a node.
  std::vector<GpuUse> uses() const;
  std::uint64_t impossible() const { return impossible_; }

 private:
  struct HoldingPeriod {
    Interval held;
    std::uint32_t holding;
  };
  void add_device(std::span<const Usage* const> rows);
  // The work that holds the device at an instant; empty: none, or several.
  std::string work_at(const Usage& usage, std::uint32_t node) const;

  const ClusterMonth& month_;
  const FleetView& fleet_;
  const UsageRules& rules_;
  Interval period_;
  std::map<GpuId, std::vector<HoldingPeriod>> of_gpu_;
  std::map<std::uint32_t, std::vector<HoldingPeriod>> of_node_;
  std::map<std::tuple<std::uint32_t, std::string, std::string>, GpuUse> uses_;
  std::uint64_t impossible_ = 0;
};

// What a piece of work is by its name: "training", "inference", "interactive"; empty: nothing in it
// says so.
std::string_view type_of_work(std::string_view work);

}  // namespace pennyweight::advising
