// The cost report: turns the summary rows of a store into one table per currency.
//
// Cost without an owner stays visible: a row with an empty key is shown as its kind in parentheses,
// such as "(unallocated)" or "(shared)", below the rows that have an owner. The table therefore
// always adds up to the bill.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/summary.h"
#include "reporting/table.h"

namespace pennyweight {

enum class CostColumn { kEffective, kBilled, kList, kContracted };
// One of the four costs.
const Money& select_cost(const Costs& costs, CostColumn column);

enum class CostSort { kCost, kKey };

struct CostReport {
  std::string title;
  std::vector<std::string> dimensions;                       // the columns to show
  std::vector<CostColumn> costs = {CostColumn::kEffective};  // the first determines share and order
  TimeBucket bucket = TimeBucket::kNone;
  CostSort sort = CostSort::kCost;
  std::optional<std::uint64_t> top =
      std::nullopt;                     // owners shown per time bucket; one row sums the others
  std::vector<std::string> notes = {};  // sentences below every table
};

// The group_by of the query whose rows cost_tables() takes: the dimensions, then "kind".
std::vector<std::string> report_group_by(const CostReport& report);

// REQUIRES: rows of a query grouped by report_group_by(report).
std::vector<Table> cost_tables(std::span<const SummaryRow> rows, const CostReport& report);

// The owners of one time bucket and currency that have no row of their own.
struct OtherOwners {
  SummaryRow sum;  // without keys
  std::uint64_t count = 0;
};

// The same tables from fewer rows. REQUIRES: report.top is set. `rows` hold, for each bucket and
// currency, the first `top` owners in the report's order and all cost without an owner; `others`
// hold the sums of the remaining owners, by bucket. An owner's kinds may be merged into one row.
std::vector<Table> cost_tables(std::span<const SummaryRow> rows,
                               std::span<const OtherOwners> others, const CostReport& report);

// The key shown for a row of posting kind `kind` whose value in `dimension` is `key`.
std::string display_key(std::string_view dimension, std::string_view key, std::string_view kind);

}  // namespace pennyweight
