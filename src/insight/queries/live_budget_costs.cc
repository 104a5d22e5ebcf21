#include "insight/queries/live_budget_costs.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include "core/billing_period.h"
#include "core/int128.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

constexpr std::chrono::hours kDay{24};
constexpr UInt128 kHourMs = 3'600'000;

std::string live_value(const LiveRow& row, const std::string& dimension) {
  if (dimension == "cluster") return row.cluster.text();
  if (row.is_unallocated) return "";
  return std::string(row.share().dimensions.find(dimension).value_or(""));
}

// Rows have no tags of the bill, but where a rule of the policy sets a dimension of such a name.
bool is_known_live(const SummaryFilter& filter, const Policy& policy) {
  if (is_tag_dimension(filter.dimension)) {
    return std::ranges::find(policy.dimensions, filter.dimension, &DimensionRule::dimension) !=
           policy.dimensions.end();
  }
  return filter.dimension == "cluster" ||
         std::ranges::find(kBuiltInDimensions, filter.dimension) == std::end(kBuiltInDimensions);
}

bool lets_pass(const SummaryFilter& filter, const LiveRow& row) {
  const std::string value = live_value(row, filter.dimension);
  return (std::ranges::find(filter.values, value) != filter.values.end()) != filter.negate;
}

}  // namespace

LiveBudgetCosts::LiveBudgetCosts(std::shared_ptr<const ViewRows> view, const Policy& policy,
                                 LiveConversion convert)
    : kept_(std::move(view)), at_(kept_->view->at), policy_(policy), convert_(std::move(convert)) {
  for (const LiveRow& row : kept_->rows) {
    if (!row.cost_today && !row.cost_month) continue;
    rows_.push_back(&row);
    may_run_until_.push_back(time_limit_end(row));
  }
  today_ = parse_date(local_date(at_, policy_.time_zone)).value_or(Date());
}

LiveBudgetCosts::~LiveBudgetCosts() = default;

const std::map<std::string, LiveBudgetCosts::RowNumbers>& LiveBudgetCosts::rows_by(
    const std::string& dimension) const {
  const auto [place, is_new] = by_value_.try_emplace(dimension);
  if (is_new) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      place->second[live_value(*rows_[i], dimension)].push_back(i);
    }
  }
  return place->second;
}

Instant LiveBudgetCosts::period_end(const Budget& budget) const {
  const Date last = budget_days(budget, today_).last;
  const auto [place, is_new] = period_ends_.try_emplace(last, at_);
  if (!is_new || last < today_) return place->second;  // a project may be over
  const Interval day = day_of(at_, policy_.time_zone);
  // The noon of the day after the last one, give or take an hour.
  const Instant noon = day.end() + (last - today_).count() * kDay + kDay / 2;
  place->second = start_of_day(noon, policy_.time_zone);
  return place->second;
}

Money LiveBudgetCosts::committed_until(std::size_t row, Instant end) const {
  const Money& hour = *rows_[row]->hour;
  const Instant until = std::min(end, *may_run_until_[row]);
  if (until <= at_ || hour.ticks() <= 0) return Money::zero(hour.currency());
  const auto ms = static_cast<UInt128>((until - at_).count());
  const auto part = multiply_divide(static_cast<UInt128>(hour.ticks()), ms, kHourMs).quotient;
  return Money::from_ticks(static_cast<Int128>(part), hour.currency());
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
  if (!std::ranges::all_of(filters,
                           [&](const auto& filter) { return is_known_live(filter, policy_); })) {
    return std::nullopt;
  }
  LiveCost live{.today = Money::zero(budget.currency())};
  // By currency, so that few amounts are converted, whatever the number of rows.
  std::map<Currency, Money> today;
  std::map<Currency, Money> month;
  std::map<Currency, Money> committed;
  const Instant end = period_end(budget);
  const auto add = [&](std::map<Currency, Money>& sums, const std::optional<Money>& cost) {
    if (!cost || (!convert_ && cost->currency() != budget.currency())) return;
    const auto [sum, is_new] = sums.try_emplace(cost->currency(), *cost);
    if (!is_new) sum->second += *cost;
  };
  const auto converted = [&](const std::map<Currency, Money>& sums) {
    std::optional<Money> all;
    for (const auto& [currency, sum] : sums) {
      const auto amount =
          currency == budget.currency() ? std::optional(sum) : convert_(sum, budget.currency());
      if (!amount) {
        live.without_rate = currency.text();
        continue;
      }
      all = all ? *all + *amount : *amount;
    }
    return all;
  };
  const auto add_row = [&](std::size_t number) {
    const LiveRow& row = *rows_[number];
    if (!std::ranges::all_of(filters, [&](const auto& filter) { return lets_pass(filter, row); })) {
      return;
    }
    add(today, row.cost_today);
    add(month, row.cost_month);
    if (may_run_until_[number]) {
      if (!row.hour || (!convert_ && row.hour->currency() != budget.currency())) {
        ++live.without_price;
        return;
      }
      add(committed, committed_until(number, end));
    } else if (row.runs && !row.is_unallocated) {
      ++live.without_limit;
    }
  };
  const auto narrow = std::ranges::find(filters, false, &SummaryFilter::negate);
  if (narrow == filters.end()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) add_row(i);
  } else {
    const auto& known = rows_by(narrow->dimension);
    for (const std::string& value :
         std::set<std::string>(narrow->values.begin(), narrow->values.end())) {
      const auto found = known.find(value);
      if (found == known.end()) continue;
      for (const std::size_t i : found->second) add_row(i);
    }
  }
  if (today.empty() && month.empty()) return std::nullopt;
  live.month = converted(month);
  live.committed = converted(committed);
  live.today = converted(today).value_or(live.today);
  return live;
}

}  // namespace pennyweight
