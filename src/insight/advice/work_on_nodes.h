// WorkOnNodes: which nodes a piece of work has to itself, hour by hour, and what it asks of them.
//
// Moving work to other machines saves the hours of nodes that it held whole and alone: only these
// fall off the bill. What it held beside others becomes unallocated, and saves nothing by itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "allocation/policy/policy.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/fleet_hours.h"
#include "insight/compare/collect_windows.h"
#include "insight/compare/fleet_view.h"

namespace pennyweight::advising {

struct WorkOnNodes {
  // By node: hours in which it held all GPUs from begin to end, and nobody else held any.
  std::map<std::uint32_t, HourFlags> alone;
  // By node: the GPU time of all other hours.
  std::map<std::uint32_t, std::uint64_t> beside_ms;
  std::set<std::uint64_t> gpus_per_node;  // how many it holds of one
  // The most that one holding asks of one node; absent: no holding says.
  std::optional<std::uint64_t> cpu_milli;
  std::optional<std::uint64_t> memory_bytes;
  WorkManager manager = WorkManager::kUnknown;  // what started the first of its runs
};

// By work_of(). Holdings that name nodes or GPUs, without what the policy calls overhead; nodes on
// which jobs of a pool may run are nobody's alone.
std::map<std::string, WorkOnNodes> find_work_on_nodes(const ClusterMonth& month,
                                                      const FleetView& fleet,
                                                      const FleetHours& hours, const Policy& policy,
                                                      WorkManager configured);

}  // namespace pennyweight::advising
