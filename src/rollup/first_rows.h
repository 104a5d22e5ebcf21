// First rows: what is asked for where a page shows the first of a grouping and not all of it.
//
// By workload a year has hundreds of thousands of rows. Who shows a hundred asks for these, for
// what all others come to, and for how many they are: then only these get their names and order.
// The sums are the same sums, so a total is, with ==, that of all rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/summary.h"

namespace pennyweight::rollup {

enum class Cost { kEffective, kBilled, kList, kContracted };

// Owners of a report: rows all of whose keys say something. The kinds of one owner are one row.
// What nobody owns is told apart by its kind and is always there.
struct OwnersAsked {
  std::vector<Cost> costs = {Cost::kEffective};  // the first gives the order
  bool by_key = false;                           // by name, and not the costliest first
  std::uint64_t count = 0;                       // of each bucket of time and currency; at least 1
};
struct Owners {
  // By bucket, keys, currency, as summarise() has them; the last key of an owner, its kind, is "".
  // Costs that were not asked for are 0 but for the effective one, and so are memory, observed time
  // and postings.
  std::vector<SummaryRow> rows;
  // What the owners that are not among them come to, by bucket and currency. Their keys are empty.
  struct Others {
    SummaryRow sum;
    std::uint64_t count = 0;
  };
  std::vector<Others> others;
};

// Some rows of a list, whatever their currency. Among equals by key, then by currency.
struct PageAsked {
  enum class Order { kEffective, kGpuTime, kKey };  // the largest first; of keys the first
  Order order = Order::kEffective;
  std::string prefix = {};  // of the first key
  // The row after which the page begins; nothing: the first page.
  struct Place {
    std::vector<std::string> keys;
    Currency currency;
  };
  std::optional<Place> after = {};
  std::uint64_t count = 0;  // at least 1
  // More rows than `count`: none of them, only how many there are.
  bool all_or_none = false;
};
struct PageOfRows {
  // In the order that was asked for. By Order::kEffective they have their effective cost alone and
  // by kGpuTime the GPU time as well; by kKey everything.
  std::vector<SummaryRow> rows;
  std::uint64_t all = 0;  // rows of the whole list
  bool has_more = false;
  bool is_lost = false;  // the row after which it should begin is not in the list
};

}  // namespace pennyweight::rollup
