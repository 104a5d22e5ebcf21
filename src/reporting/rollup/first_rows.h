// Requests for the first rows of a grouping, for pages that don't show all of it.
//
// Grouped by workload, a year has hundreds of thousands of rows. A page that shows a hundred asks
// for these, and for the number and the sum of all others, so that only the hundred are sorted and
// get their names. Totals are still exactly those of all rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/summary.h"

namespace pennyweight::rollup {

enum class Cost { kEffective, kBilled, kList, kContracted };

// Asks for the first owners of a report. An owner is a row without an empty key; all kinds of cost
// of one owner are one row. Costs without an owner have a row for each kind, and are always there.
struct OwnersRequest {
  std::vector<Cost> costs = {Cost::kEffective};  // sorted by the first
  bool by_key = false;                           // sort by name, not by cost
  std::uint64_t count = 0;  // owners of each time bucket and currency; at least 1
};
struct TopOwners {
  // Sorted by bucket, keys, currency, as in summarise(). The last key, the kind, is "" for owners.
  // The effective cost is always set; costs that were not requested, memory time, observed time and
  // postings are 0.
  std::vector<SummaryRow> rows;
  // The sum of the owners that are not in `rows`, by bucket and currency. Its keys are empty.
  struct Remainder {
    SummaryRow sum;
    std::uint64_t count = 0;
  };
  std::vector<Remainder> others;
};

// Asks for a page of rows of any currency. Equal rows are sorted by key, then by currency.
struct PageRequest {
  enum class Order { kEffective, kGpuTime, kKey };  // amounts descending, keys ascending
  Order order = Order::kEffective;
  std::string prefix = {};  // of the first key
  // The last row of the page before; none: the first page.
  struct Cursor {
    std::vector<std::string> keys;
    Currency currency;
  };
  std::optional<Cursor> after = {};
  std::uint64_t count = 0;  // at least 1
  // If the list has more than `count` rows, return none of them, only their number.
  bool all_or_none = false;
};
struct RowPage {
  // In the requested order. With Order::kEffective only the effective cost is set, with kGpuTime
  // the GPU time as well, with kKey everything.
  std::vector<SummaryRow> rows;
  std::uint64_t all = 0;  // the number of rows of the whole list
  bool has_more = false;
  bool is_lost = false;  // the cursor's row is no longer in the list
};

}  // namespace pennyweight::rollup
