// Fold rows: groups of a fold as rows of an answer, in the order that answers have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ledger/summary.h"
#include "reporting/rollup/fold.h"
#include "reporting/rollup/workload_names.h"

namespace pennyweight::rollup {

// Some groups, or all of them.
using Numbers = std::vector<std::uint32_t>;
Numbers all_of(const Fold& fold);
// Ids of their workloads, as WorkloadNames::load() takes them; none where none are asked for.
std::vector<Number> workloads_of(const Fold& fold, std::span<const std::uint32_t> groups);

// The value of a key: a text, or the id of a workload; kLeftOut where it has none, such as the
// kind of an owner.
Number value_of(const QueryPlan& plan, const Fold::Group& group, const QueryPlan::Key& key);
Currency currency_of(const Fold& fold, Number facet);

// The order of rows: by bucket, then keys, then currency. Numbers are compared and no texts.
class RowOrder {
 public:
  // `fold` outlives it, and nothing is added to it any more.
  explicit RowOrder(const Fold& fold);
  // `names` has those of the groups' workloads.
  void sort(const WorkloadNames& names, Numbers& groups) const;

 private:
  const Fold& fold_;
  std::vector<Number> ranks_;  // by text: its place among those that groups have
};

// A row without keys, of a group or of sums of some that have its bucket and currency.
SummaryRow sums_of(const Fold& fold, std::uint32_t group);
SummaryRow sums_of(const Fold& fold, std::uint32_t group, const Fold::Amounts& amounts);
std::vector<SummaryRow> rows_of(const Fold& fold, const WorkloadNames& names,
                                std::span<const std::uint32_t> groups);

}  // namespace pennyweight::rollup
