#include "insight/queries/live_budget_costs.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

std::string live_value(const LiveRow& row, const std::string& dimension) {
  if (dimension == "cluster") return row.cluster.text();
  if (row.is_unallocated) return "";
  return std::string(row.share().dimensions.find(dimension).value_or(""));
}

bool is_known_live(const SummaryFilter& filter) {
  return filter.dimension == "cluster" ||
         std::ranges::find(kBuiltInDimensions, filter.dimension) == std::end(kBuiltInDimensions);
}

bool lets_pass(const SummaryFilter& filter, const LiveRow& row) {
  const std::string value = live_value(row, filter.dimension);
  return (std::ranges::find(filter.values, value) != filter.values.end()) != filter.negate;
}

}  // namespace

LiveBudgetCosts::LiveBudgetCosts(std::shared_ptr<const LiveView> view, const Policy& policy)
    : view_(std::move(view)), policy_(policy) {
  for (LiveRow& row : live_rows(*view_)) {
    if (row.cost_today || row.cost_month) rows_.push_back(std::move(row));
  }
}

LiveBudgetCosts::~LiveBudgetCosts() = default;

const std::map<std::string, LiveBudgetCosts::RowNumbers>& LiveBudgetCosts::rows_by(
    const std::string& dimension) const {
  const auto [place, is_new] = by_value_.try_emplace(dimension);
  if (is_new) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      place->second[live_value(rows_[i], dimension)].push_back(i);
    }
  }
  return place->second;
}

std::optional<LiveCost> LiveBudgetCosts::of(const Budget& budget) const {
  // At list or card prices the four costs are the same.
  if (budget.cost == "gpu_hours") return std::nullopt;
  std::vector<SummaryFilter> filters;
  for (const std::string& text : budget.filters) {
    const auto parsed = parse_filter(text, policy_);
    if (!parsed) return std::nullopt;
    filters.insert(filters.end(), parsed->begin(), parsed->end());
  }
  if (!std::ranges::all_of(filters, is_known_live)) return std::nullopt;
  std::optional<Money> today;
  std::optional<Money> month;
  const auto add = [&](std::optional<Money>& sum, const std::optional<Money>& cost) {
    if (!cost || cost->currency() != budget.currency()) return;
    sum = sum ? *sum + *cost : *cost;
  };
  const auto add_row = [&](const LiveRow& row) {
    if (!std::ranges::all_of(filters, [&](const auto& filter) { return lets_pass(filter, row); })) {
      return;
    }
    add(today, row.cost_today);
    add(month, row.cost_month);
  };
  const auto narrow = std::ranges::find(filters, false, &SummaryFilter::negate);
  if (narrow == filters.end()) {
    for (const LiveRow& row : rows_) add_row(row);
  } else {
    const auto& known = rows_by(narrow->dimension);
    for (const std::string& value :
         std::set<std::string>(narrow->values.begin(), narrow->values.end())) {
      const auto found = known.find(value);
      if (found == known.end()) continue;
      for (const std::size_t i : found->second) add_row(rows_[i]);
    }
  }
  if (!today && !month) return std::nullopt;
  return LiveCost{today.value_or(Money::zero(budget.currency())), month};
}

}  // namespace pennyweight
