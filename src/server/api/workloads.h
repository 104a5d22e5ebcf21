// Sums summary rows by workload: its cost, and its owners' dimensions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "core/quantity.h"
#include "ledger/summary.h"

namespace pennyweight::api {

struct WorkloadSums {
  std::string cluster;
  std::string workload;
  std::vector<std::string> dimensions;  // values of the requested dimensions
  Money effective, used, idle;
  GpuTime held, observed;
};

enum class WorkloadOrder { kCost, kIdle, kGpuHours, kName };

// The group_by for workload_sums(): cluster, workload, kind, and dimensions.
std::vector<std::string> workload_keys(const std::vector<std::string>& dimensions);
// One element for each workload and currency, the largest first, or by name. Leaves unallocated
// cost out. REQUIRES: rows of a query grouped by workload_keys().
std::vector<WorkloadSums> workload_sums(std::span<const SummaryRow> rows, WorkloadOrder order);

}  // namespace pennyweight::api
