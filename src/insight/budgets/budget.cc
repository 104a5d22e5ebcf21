#include "insight/budgets/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "insight/budgets/budget_period.h"
#include "insight/forecast/methods.h"

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::year_month_day;

constexpr std::string_view kPeriodNames[] = {"day", "week", "month", "quarter", "year", "project"};
constexpr int kAtRiskPercent = 80;
constexpr int kLinearDaysMin = 3;
constexpr int kSpentThresholds[] = {50, 80, 100};
constexpr std::size_t kSameScopesShown = 3;

Date month_begin(year_month_day day, unsigned month) {
  return day.year() / std::chrono::month(month) / 1;
}

Money sum_between(const SpentDays& spent, Date first, Date last, Currency currency) {
  Money sum = Money::zero(currency);
  for (auto day = spent.days.lower_bound(first); day != spent.days.end() && day->first <= last;
       ++day) {
    sum += day->second;
  }
  return sum;
}

// part / whole of `amount`, rounded towards zero: for display only.
Money part_of(Money amount, std::int64_t part, std::int64_t whole) {
  const Int128 ticks = amount.ticks();
  const UInt128 size = static_cast<UInt128>(ticks < 0 ? -ticks : ticks);
  const auto scaled =
      multiply_divide(size, static_cast<UInt128>(part), static_cast<UInt128>(whole));
  const auto result = static_cast<Int128>(scaled.quotient);
  return Money::from_ticks(ticks < 0 ? -result : result, amount.currency());
}

std::optional<int> permille_of(Money part, Money whole) {
  if (whole.ticks() <= 0) return std::nullopt;
  const bool is_negative = part.ticks() < 0;
  const UInt128 size = static_cast<UInt128>(is_negative ? -part.ticks() : part.ticks());
  const UInt128 permille =
      multiply_divide(size, 1000, static_cast<UInt128>(whole.ticks())).quotient;
  const int bounded = permille > 1'000'000 ? 1'000'000 : static_cast<int>(permille);
  return is_negative ? -bounded : bounded;
}

// What earlier periods left over, from the first period of the budget on.
Money carried_over(const Budget& budget, const SpentDays& spent, const BudgetDays& now) {
  Money carried = Money::zero(budget.currency());
  if (!budget.rolls_over || !budget.from || budget.period == BudgetPeriod::kProject) return carried;
  for (BudgetDays period = budget_days(budget, *budget.from); period.first < now.first;
       period = budget_days(budget, period.last + days(1))) {
    carried +=
        budget.amount_on(period.first) -
        sum_between(spent, std::max(period.first, *budget.from), period.last, budget.currency());
  }
  return carried;
}

void find_exhaustion(BudgetStatus& status, const SpentDays& spent,
                     const std::optional<forecasting::CostForecast>& forecast, Date today) {
  Money sum = Money::zero(status.amount.currency());
  for (auto day = spent.days.lower_bound(status.days.first);
       day != spent.days.end() && day->first <= status.days.last; ++day) {
    sum += day->second;
    if (sum.ticks() > status.amount.ticks()) {
      status.exhausted_on = day->first;
      return;
    }
  }
  if (!forecast) return;
  sum = sum_between(spent, status.days.first, spent.complete_until, status.amount.currency());
  for (std::size_t h = 0; h < forecast->path.size(); ++h) {
    const Date day = spent.complete_until + days(1) + days(h);
    if (day > status.days.last) return;
    if (day < status.days.first) continue;
    const auto known = spent.days.find(day);
    // A day that has begun costs at least what is known of it.
    const bool is_more =
        known != spent.days.end() && known->second.ticks() > forecast->path[h].ticks();
    sum += is_more ? known->second : forecast->path[h];
    if (sum.ticks() > status.amount.ticks()) {
      status.exhausts_on = std::max(day, today);
      return;
    }
  }
}

void add_forecast(BudgetStatus& status, const SpentDays& spent,
                  const forecasting::CostForecast& forecast) {
  const Date begin = spent.complete_until + days(1);
  const Currency currency = status.amount.currency();
  if (begin > status.days.last) {
    status.forecast = status.actual;
    return;
  }
  const auto steps = static_cast<std::size_t>((status.days.last - begin).count()) + 1;
  if (steps > forecast.path.size()) return;
  const auto skipped =
      status.days.first > begin ? static_cast<std::size_t>((status.days.first - begin).count()) : 0;
  // What is known of incomplete days beyond their forecast.
  Money more = Money::zero(currency);
  for (const auto& [day, cost] : spent.days) {
    if (day < begin || day < status.days.first || day > status.days.last) continue;
    const Money expected = forecast.path[static_cast<std::size_t>((day - begin).count())];
    if (cost.ticks() > expected.ticks()) more += cost - expected;
  }
  const Money complete = sum_between(spent, status.days.first, spent.complete_until, currency);
  const Money certain = complete + more - forecast.sum(skipped);
  status.forecast = certain + forecast.sum(steps);
  status.forecast_method = forecasting::method_name(forecast.basis.method);
  if (const auto range = forecast.sum_range(steps, 80)) {
    status.forecast_80 = {certain + range->low, certain + range->high};
  }
  status.percent_above = forecast.percent_above(steps, status.amount - certain);
}

}  // namespace

std::optional<BudgetPeriod> parse_budget_period(std::string_view text) {
  const auto found = std::ranges::find(kPeriodNames, text);
  if (found == std::end(kPeriodNames)) return std::nullopt;
  return static_cast<BudgetPeriod>(found - std::begin(kPeriodNames));
}

std::string_view to_text(BudgetPeriod period) {
  return kPeriodNames[static_cast<std::size_t>(period)];
}

Money Budget::amount_on(Date day) const {
  Money amount = amounts.front().amount;
  for (const BudgetAmount& version : amounts) {
    if (version.from <= day) amount = version.amount;
  }
  return amount;
}

Result<void> check_budget(const Budget& budget) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kBadValue, fmt::format("budget '{}': {}", budget.name, what));
  };
  if (budget.name.empty()) return wrong("a budget needs a name");
  if (budget.amounts.empty()) return wrong("it needs an amount, or GPU-hours");
  for (std::size_t i = 0; i < budget.amounts.size(); ++i) {
    const Money& amount = budget.amounts[i].amount;
    if (amount.is_negative()) return wrong("an amount is 0 or more");
    if (amount.currency() != budget.currency()) return wrong("its amounts are in two currencies");
    if (i > 0 && budget.amounts[i].from <= budget.amounts[i - 1].from) {
      return wrong("its amounts are in the order of their dates, each with a date of its own");
    }
  }
  const bool is_time = budget.currency() == kGpuHourUnit;
  if (is_time && budget.cost != kGpuHourCost) {
    return wrong(
        fmt::format("GPU-hours have no {} cost; leave the cost out, or state an amount of "
                    "money",
                    budget.cost));
  }
  if (!is_time && budget.cost == kGpuHourCost) {
    return wrong("GPU-hours have a budget of their own, without a currency");
  }
  if (budget.period == BudgetPeriod::kProject && (!budget.from || !budget.to)) {
    return wrong("a project needs `from` and `to`");
  }
  if (budget.period != BudgetPeriod::kProject && budget.to)
    return wrong("`to` is allowed only for a project");
  if (budget.from && budget.to && *budget.to < *budget.from)
    return wrong("it ends before it begins");
  if (budget.rolls_over && !budget.from) return wrong("roll-over needs `from`, where it begins");
  if (budget.rolls_over && budget.period == BudgetPeriod::kProject) {
    return wrong("a project has one period, so nothing rolls over");
  }
  return {};
}

Result<void> check_budget_texts(const Budget& budget) {
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7F;
  };
  std::vector<std::pair<std::string_view, std::string_view>> texts = {
      {"name", budget.name}, {"owner", budget.owner}, {"parent", budget.parent}};
  for (const std::string& filter : budget.filters) texts.emplace_back("filter", filter);
  for (const auto& [what, text] : texts) {
    if (std::ranges::none_of(text, is_control)) continue;
    return fail(ErrorCode::kBadValue,
                fmt::format("budget '{}': its {} has a line end or another control character",
                            budget.name.substr(0, budget.name.find_first_of("\r\n")), what));
  }
  return {};
}

BudgetDays budget_days(const Budget& budget, Date day) {
  const year_month_day date(day);
  const auto month = static_cast<unsigned>(date.month());
  switch (budget.period) {
    case BudgetPeriod::kDay:
      return {day, day};
    case BudgetPeriod::kWeek: {
      const Date first = day - (std::chrono::weekday(day) - std::chrono::Monday);
      return {first, first + days(6)};
    }
    case BudgetPeriod::kMonth:
      return {month_begin(date, month), Date(date.year() / date.month() / std::chrono::last)};
    case BudgetPeriod::kQuarter: {
      const unsigned first = (month - 1) / 3 * 3 + 1;
      return {month_begin(date, first),
              Date(date.year() / std::chrono::month(first + 2) / std::chrono::last)};
    }
    case BudgetPeriod::kYear:
      return {month_begin(date, 1), Date(date.year() / 12 / 31)};
    case BudgetPeriod::kProject:
      return {*budget.from, *budget.to};
  }
  return {day, day};
}

std::string_view BudgetStatus::state() const {
  if (!problem.empty()) return "unknown";
  if (left.is_negative()) return "exceeded";
  if (forecast && forecast->ticks() > amount.ticks()) return "at risk";
  if (percent_above && *percent_above >= kAtRiskPercent) return "at risk";
  if (is_outdated || is_unmatched) return "unknown";
  return "on track";
}

BudgetStatus measure_budget(const Budget& budget, const SpentDays& spent, Date today,
                            const std::optional<forecasting::CostForecast>& forecast) {
  return measure_period(budget, budget_days(budget, today), spent, today, forecast);
}

BudgetStatus measure_period(const Budget& budget, const BudgetDays& period, const SpentDays& spent,
                            Date today, const std::optional<forecasting::CostForecast>& forecast) {
  const Currency currency = budget.currency();
  const Money carried = carried_over(budget, spent, period);
  const Money amount = budget.amount_on(period.first) + carried;
  const Money actual = sum_between(spent, period.first, period.last, currency);
  const int elapsed =
      std::clamp(static_cast<int>((today - period.first).count()), 0, period.count());
  const int complete = std::clamp(
      static_cast<int>((spent.complete_until - period.first).count()) + 1, 0, period.count());
  BudgetStatus status{.budget = budget,
                      .days = period,
                      .amount = amount,
                      .carried = carried,
                      .actual = actual,
                      .left = amount - actual,
                      .pace = part_of(amount, elapsed, period.count())};
  status.actual_permille = permille_of(actual, amount);
  if (complete >= kLinearDaysMin) {
    const Money known = sum_between(spent, period.first, spent.complete_until, currency);
    status.linear = part_of(known, period.count(), complete);
  }
  if (forecast && !forecast->path.empty()) add_forecast(status, spent, *forecast);
  find_exhaustion(status, spent, forecast, today);
  if (amount.ticks() <= 0) {
    status.notes.emplace_back("there is nothing to spend in this period");
  }
  if (spent.days.empty()) {
    // One that is set ahead may be for a team that is to come.
    status.is_unmatched = period.first <= today;
    status.notes.push_back(fmt::format(
        "no cost of the last {} days matches its scope{}; check the names in it",
        kBudgetHistoryDays, budget.filters.empty() ? "" : ", " + budget.filters.front()));
  } else if ((today - spent.complete_until).count() > 3 && complete < elapsed) {
    status.notes.push_back(fmt::format("costs are complete until {} only",
                                       pennyweight::to_text(spent.complete_until)));
  }
  return status;
}

std::map<std::string, std::string> check_hierarchy(std::span<const Budget> budgets, Date today) {
  std::map<std::string, const Budget*> by_name;
  for (const Budget& budget : budgets) by_name.emplace(budget.name, &budget);
  std::map<std::string, std::vector<const Budget*>> parts;
  std::map<std::string, std::string> notes;
  for (const Budget& budget : budgets) {
    if (budget.parent.empty()) continue;
    const auto parent = by_name.find(budget.parent);
    if (parent == by_name.end()) {
      notes[budget.name] = fmt::format("its parent '{}' does not exist", budget.parent);
      continue;
    }
    std::set<std::string> seen{budget.name};
    const Budget* above = parent->second;
    while (above != nullptr && seen.insert(above->name).second) {
      const auto next = by_name.find(above->parent);
      above = next == by_name.end() ? nullptr : next->second;
    }
    if (above != nullptr) {
      notes[budget.name] = "its parents form a circle";
      continue;
    }
    if (parent->second->period != budget.period ||
        parent->second->currency() != budget.currency() || parent->second->cost != budget.cost) {
      notes[budget.name] = fmt::format(
          "its parent '{}' has another period, currency or cost, so the two are not compared",
          budget.parent);
      continue;
    }
    parts[budget.parent].push_back(&budget);
  }
  for (const auto& [name, children] : parts) {
    const Budget& parent = *by_name.at(name);
    Money sum = Money::zero(parent.currency());
    for (const Budget* child : children) {
      sum += child->amount_on(budget_days(*child, today).first);
    }
    const Money has = parent.amount_on(budget_days(parent, today).first);
    if (sum.ticks() <= has.ticks()) continue;
    notes[name] = fmt::format(
        "its {} {} {}, {} more than its own amount",
        children.size() == 1 ? "part comes to" : fmt::format("{} parts come to", children.size()),
        to_text(sum.amount()),
        parent.currency() == kGpuHourUnit ? "GPU-hours" : sum.currency().text(),
        to_text((sum - has).amount()));
  }
  return notes;
}

std::map<std::string, std::string> find_same_scopes(std::span<const Budget> budgets) {
  using Scope = std::tuple<std::vector<std::string>, BudgetPeriod, std::string, Currency,
                           std::optional<Date>, std::optional<Date>>;
  std::map<Scope, std::vector<const Budget*>> by_scope;
  for (const Budget& budget : budgets) {
    std::vector<std::string> filters = budget.filters;
    std::ranges::sort(filters);
    const bool is_project = budget.period == BudgetPeriod::kProject;
    by_scope[Scope(std::move(filters), budget.period, budget.cost, budget.currency(),
                   is_project ? budget.from : std::nullopt, budget.to)]
        .push_back(&budget);
  }
  std::map<std::string, std::string> notes;
  for (const auto& [scope, same] : by_scope) {
    if (same.size() < 2) continue;
    for (const Budget* budget : same) {
      std::string names;
      std::size_t count = 0;
      for (const Budget* other : same) {
        const bool is_family = other->parent == budget->name || budget->parent == other->name;
        if (other == budget || is_family) continue;
        if (++count <= kSameScopesShown) names += (count == 1 ? "" : ", ") + other->name;
        if (count > kSameScopesShown) break;
      }
      if (count == 0) continue;
      if (count > kSameScopesShown) names += " and others";
      notes[budget->name] = fmt::format(
          "its scope and period are those of {} too, so that the same costs count in each", names);
    }
  }
  return notes;
}

std::vector<BudgetThreshold> reached_thresholds(const BudgetStatus& status) {
  std::vector<BudgetThreshold> reached;
  for (const int percent : kSpentThresholds) {
    if (status.actual_permille && *status.actual_permille >= percent * 10) {
      reached.push_back({percent, false});
    }
  }
  if (status.forecast && status.forecast->ticks() > status.amount.ticks()) {
    reached.push_back({100, true});
  }
  return reached;
}

}  // namespace pennyweight
