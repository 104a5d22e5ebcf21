// The figures of a month by currency and by kind of cost.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ledger/posting.h"
#include "ledger/summary.h"

namespace pennyweight::api {

struct MonthSums {
  std::string month;
  Money total;
  std::map<PostingKind, Money> by_kind;
  GpuTime held;      // by workloads, used or not
  GpuTime idle;      // unallocated, and overhead
  GpuTime observed;  // the part of `held` with telemetry
};

// The sums by currency. REQUIRES: rows of a query grouped by kind.
std::vector<MonthSums> month_sums(const std::string& month, std::span<const SummaryRow> rows);

}  // namespace pennyweight::api
