#include "reporting/rollup/fold_rows.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "core/check.h"

namespace pennyweight::rollup {
namespace {

// Places of texts in the order of their bytes, for those that groups have: a comparison of numbers
// in the place of one of texts.
std::vector<Number> ranks_of_texts(const QueryPlan& plan) {
  const Dictionary& names = plan.state.names;
  std::vector<Number> used = {0};
  for (const Groups* groups : {&plan.facets, &plan.places, &plan.sets}) {
    for (const std::vector<Number>& values : groups->values) {
      for (const Number value : values) {
        if (value != kLeftOut) used.push_back(value);
      }
    }
  }
  std::ranges::sort(used);
  const auto rest = std::ranges::unique(used);
  used.erase(rest.begin(), rest.end());
  std::ranges::sort(used, {}, [&](Number text) { return std::string_view(names.text(text)); });
  std::vector<Number> ranks(names.texts.all().size());
  for (std::size_t i = 0; i < used.size(); ++i) ranks[used[i]] = static_cast<Number>(i);
  return ranks;
}

}  // namespace

Numbers all_of(const Fold& fold) {
  Numbers all(fold.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Number> workloads_of(const Fold& fold, std::span<const std::uint32_t> groups) {
  std::vector<Number> found;
  if (!fold.plan().by_workload) return found;
  found.reserve(groups.size());
  for (const std::uint32_t group : groups) found.push_back(fold.group(group).workload);
  return found;
}

Number value_of(const QueryPlan& plan, const Fold::Group& group, const QueryPlan::Key& key) {
  using Origin = QueryPlan::Origin;
  switch (key.origin) {
    case Origin::kFacet:
      return plan.facets.values[group.facet][key.at];
    case Origin::kPlace:
      return plan.places.values[group.place][key.at];
    case Origin::kLabels:
      return plan.sets.values[group.label][key.at];
    case Origin::kWorkload:
      return group.workload;
    case Origin::kNothing:
      break;
  }
  CHECK(false, "every key has an origin");
  return 0;
}

Currency currency_of(const Fold& fold, Number facet) {
  const QueryPlan& plan = fold.plan();
  const Result<Currency> currency =
      Currency::parse(plan.state.names.text(plan.facets.values[facet].back()));
  CHECK(currency.has_value(), "what came from Money is a currency");
  return *currency;
}

RowOrder::RowOrder(const Fold& fold) : fold_(fold), ranks_(ranks_of_texts(fold.plan())) {}

void RowOrder::sort(const WorkloadNames& names, Numbers& groups) const {
  if (groups.size() < 2) return;
  const QueryPlan& plan = fold_.plan();
  const bool has_buckets = plan.bucket != TimeBucket::kNone;
  // A bucket, each key and the currency of each group, as numbers that are in their order.
  const std::size_t width = plan.keys.size() + 2;
  std::vector<Number> places;
  places.reserve(groups.size() * width);
  for (const std::uint32_t number : groups) {
    const Fold::Group group = fold_.group(number);
    // Days before 1970 come first, too.
    places.push_back(has_buckets ? static_cast<Number>(fold_.day_of(group.bucket)) ^ 0x8000'0000U
                                 : 0);
    for (const QueryPlan::Key& key : plan.keys) {
      const Number value = value_of(plan, group, key);
      places.push_back(key.origin == QueryPlan::Origin::kWorkload ? names.rank(value)
                       : value == kLeftOut                        ? 0
                                                                  : ranks_[value]);
    }
    places.push_back(ranks_[plan.facets.values[group.facet].back()]);
  }
  Numbers order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const Number* const of_a = places.data() + a * width;
    const Number* const of_b = places.data() + b * width;
    return std::lexicographical_compare(of_a, of_a + width, of_b, of_b + width);
  });
  for (std::uint32_t& at : order) at = groups[at];
  groups = std::move(order);
}

SummaryRow sums_of(const Fold& fold, std::uint32_t number) {
  return sums_of(fold, number, fold.amounts(number));
}

SummaryRow sums_of(const Fold& fold, std::uint32_t number, const Fold::Amounts& amounts) {
  const QueryPlan& plan = fold.plan();
  const Fold::Group group = fold.group(number);
  const Currency currency = currency_of(fold, group.facet);
  const auto money = [&](Cost cost) {
    return Money::from_ticks(fold.cost_of(amounts, cost), currency);
  };
  SummaryRow row{
      {},
      {},
      {money(Cost::kBilled), money(Cost::kEffective), money(Cost::kList), money(Cost::kContracted)},
      GpuTime::of(amounts[kHeld]),
      GpuTime::of(amounts[kIdle]),
      MemoryTime::of(amounts[kMemory]),
      GpuTime::of(amounts[kObserved]),
      static_cast<std::uint64_t>(amounts[kPostings])};
  if (plan.bucket != TimeBucket::kNone) {
    row.bucket = std::chrono::sys_days(std::chrono::days(fold.day_of(group.bucket)));
  }
  return row;
}

std::vector<SummaryRow> rows_of(const Fold& fold, const WorkloadNames& names,
                                std::span<const std::uint32_t> groups) {
  const QueryPlan& plan = fold.plan();
  std::vector<SummaryRow> rows;
  rows.reserve(groups.size());
  for (const std::uint32_t number : groups) {
    SummaryRow& row = rows.emplace_back(sums_of(fold, number));
    const Fold::Group group = fold.group(number);
    row.keys.reserve(plan.keys.size());
    for (const QueryPlan::Key& key : plan.keys) {
      const Number value = value_of(plan, group, key);
      if (key.origin == QueryPlan::Origin::kWorkload) {
        row.keys.emplace_back(names.name(value));
      } else {
        row.keys.emplace_back(value == kLeftOut ? std::string() : plan.state.names.text(value));
      }
    }
  }
  return rows;
}

}  // namespace pennyweight::rollup
