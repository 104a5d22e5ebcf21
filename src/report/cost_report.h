// The cost report: summary rows of a store to tables, one for each currency.
//
// What belongs to nobody stays visible: a row whose key is empty is named for its kind in
// parentheses, "(unallocated)", "(shared)", and stands below the rows that have an owner. So the
// table always adds up to the bill.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/summary.h"
#include "report/table.h"

namespace pennyweight {

enum class CostColumn { kEffective, kBilled, kList, kContracted };
enum class CostSort { kCost, kKey };

struct CostReport {
  std::string title;
  std::vector<std::string> dimensions;                       // the columns to show
  std::vector<CostColumn> costs = {CostColumn::kEffective};  // the first gives share and order
  TimeBucket bucket = TimeBucket::kNone;
  CostSort sort = CostSort::kCost;
  std::optional<std::uint64_t> top =
      std::nullopt;  // owners shown for each bucket; the others in one row
};

// The group_by of the query that `cost_tables` needs: the dimensions, then "kind".
std::vector<std::string> query_dimensions(const CostReport& report);

// REQUIRES: rows of a query grouped by query_dimensions(report).
std::vector<Table> cost_tables(std::span<const SummaryRow> rows, const CostReport& report);

// Owners of a bucket of time and a currency that are not among the rows.
struct OtherOwners {
  SummaryRow sum;  // what they come to, without keys
  std::uint64_t count = 0;
};

// The same tables, from the rows that they show. REQUIRES: report.top; `rows` as above have, of
// each bucket and currency, the first `top` owners in the order of the report, and everything that
// nobody owns; `others` have the rest, by bucket. The kinds of an owner may be one row.
std::vector<Table> cost_tables(std::span<const SummaryRow> rows,
                               std::span<const OtherOwners> others, const CostReport& report);

// The key that the report shows for a row whose value in `dimension` is `key`, of kind `kind`.
std::string shown_key(std::string_view dimension, std::string_view key, std::string_view kind);

}  // namespace pennyweight
