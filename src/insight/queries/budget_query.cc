#include "insight/queries/budget_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/try.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr int kHistoryDays = 400;
constexpr int kForecastDaysLeftMax = 400;
// Of costs that ended longer ago a forecast of today would say nothing.
constexpr int kHistoryAgeDaysMax = 35;

// All days of the scope of a budget; complete or not.
Result<SpentDays> spent_days(const Budget& budget, const BudgetQuery& params, const Policy& policy,
                             const SummarySource& summarise) {
  SummaryQuery query;
  query.bucket = TimeBucket::kDay;
  for (const std::string& text : budget.filters) {
    const auto filters = TRY(parse_filter(text, policy));
    query.filters.insert(query.filters.end(), filters.begin(), filters.end());
  }
  Date first = budget_days(budget, params.today).first;
  if (budget.rolls_over && budget.from) first = std::min(first, *budget.from);
  query.first_day = std::min(first, params.today - std::chrono::days(kHistoryDays));
  query.last_day = params.today;
  const auto rows = TRY(summarise(query));
  SpentDays spent;
  for (const SummaryRow& row : rows) {
    if (!row.bucket) continue;
    const Money cost = TRY(budget_cost(row, budget.cost));
    if (cost.currency() != budget.currency()) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("its amount is in {}, and its scope has costs in {}: add the filter "
                      "currency={}, or have a budget for each currency",
                      budget.currency().text(), cost.currency().text(), budget.currency().text()));
    }
    const auto place = spent.days.try_emplace(*row.bucket, Money::zero(cost.currency()));
    place.first->second += cost;
  }
  spent.complete_until = params.today - std::chrono::days(1);
  return spent;
}

Result<BudgetStatus> query_budget(const Budget& budget, const BudgetQuery& params,
                                  const Policy& policy, const SummarySource& summarise) {
  SpentDays spent = TRY(spent_days(budget, params, policy, summarise));
  std::optional<forecasting::CostForecast> forecast;
  std::vector<std::string> notes;
  bool is_outdated = false;
  const DailyCostQuery costs{.by = {},
                             .filters = budget.filters,
                             .cost = budget.cost,
                             .today = params.today,
                             .complete_until = params.complete_until};
  const auto history = query_daily_costs(costs, policy, summarise);
  if (history) {
    spent.complete_until = history->last_day();
    const auto left = (budget_days(budget, params.today).last - history->last_day()).count();
    const auto age = (params.today - history->last_day()).count();
    is_outdated = left > 0 && age > kHistoryAgeDaysMax;
    if (params.forecasts && is_outdated) {
      notes.push_back(fmt::format("no forecast, since the last complete day is {} days ago", age));
    } else if (params.forecasts && left > 0 && left <= kForecastDaysLeftMax) {
      // An event for one value, such as a team, can't be told apart in the sum of the scope, so it
      // counts where the budget's scope names that value.
      std::vector<forecasting::KnownEvent> events;
      for (forecasting::KnownEvent event : params.events) {
        const bool names_key = std::ranges::any_of(budget.filters, [&](const std::string& filter) {
          return !event.key.empty() && filter.ends_with("=" + event.key);
        });
        if (!event.key.empty() && !names_key) continue;
        event.key = history->parts.front().key;
        if (event.per_day && event.per_day->currency() != budget.currency()) continue;
        events.push_back(std::move(event));
      }
      const forecasting::CostForecastRequest request{.first_day = history->first_day,
                                                     .parts = history->parts,
                                                     .missing = history->missing,
                                                     .horizon = static_cast<int>(left),
                                                     .events = std::move(events)};
      BudgetForecasts fresh;
      BudgetForecasts& kept = params.kept == nullptr ? fresh : *params.kept;
      forecast = TRY(kept.forecast(budget.name, request));
    }
    notes.insert(notes.end(), history->notes.begin(), history->notes.end());
  } else if (history.error().code != ErrorCode::kNotFound) {
    return std::unexpected(history.error());
  }
  if (params.live_today) {
    if (const auto live = params.live_today(budget)) {
      // The ledger may know a part of today already; the larger of the two counts.
      const auto place = spent.days.try_emplace(params.today, *live);
      if (place.first->second.ticks() < live->ticks()) place.first->second = *live;
    }
  }
  BudgetStatus status = measure_budget(budget, spent, params.today, forecast);
  status.is_outdated = is_outdated;
  std::ranges::move(notes, std::back_inserter(status.notes));
  return status;
}

Cell optional_money(const std::optional<Money>& amount) { return amount ? Cell{*amount} : Cell{}; }

std::string date_text(const std::optional<Date>& day) { return day ? to_text(*day) : ""; }

// From "carried over" to "exhausted".
void add_measures(const BudgetStatus& status, std::vector<Cell>& row) {
  const auto& range = status.forecast_80;
  const bool has_amount = status.amount.ticks() > 0;
  row.insert(
      row.end(),
      {status.carried, status.actual,
       has_amount ? Cell{Ratio{status.actual.ticks(), status.amount.ticks()}} : Cell{}, status.pace,
       status.left, optional_money(status.forecast), range ? Cell{range->low} : Cell{},
       range ? Cell{range->high} : Cell{},
       status.percent_above ? Cell{static_cast<std::uint64_t>(*status.percent_above)} : Cell{},
       date_text(status.exhausted_on ? status.exhausted_on : status.exhausts_on)});
}

std::vector<Column> budget_columns() {
  return {{"budget", "budget"},
          {"owner", "owner"},
          {"scope", "scope"},
          {"cost", "cost"},
          {"from", "from"},
          {"to", "to"},
          {"amount", "amount", ColumnKind::kMoney},
          {"carried", "carried over", ColumnKind::kMoney},
          {"actual", "actual", ColumnKind::kMoney},
          {"used", "used", ColumnKind::kPercent},
          {"pace", "even pace", ColumnKind::kMoney},
          {"left", "left", ColumnKind::kMoney},
          {"forecast", "forecast", ColumnKind::kMoney},
          {"low_80", "80 % from", ColumnKind::kMoney},
          {"high_80", "to", ColumnKind::kMoney},
          {"percent_above", "P(above), %", ColumnKind::kCount},
          {"exhausted", "exhausted"},
          {"state", "state"}};
}

}  // namespace

Result<std::vector<BudgetStatus>> query_budgets(const BudgetQuery& params, const Policy& policy,
                                                const SummarySource& summarise) {
  std::vector<BudgetStatus> statuses;
  // The costs of all days are the same for every budget.
  std::map<std::pair<std::optional<Date>, std::optional<Date>>, std::vector<SummaryRow>> whole;
  const SummarySource once = [&](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
    if (!query.filters.empty() || !query.group_by.empty()) return summarise(query);
    const std::pair days(query.first_day, query.last_day);
    const auto known = whole.find(days);
    if (known != whole.end()) return known->second;
    auto rows = TRY(summarise(query));
    return whole.emplace(days, std::move(rows)).first->second;
  };
  for (const Budget& budget : params.budgets) {
    if (!params.name.empty() && budget.name != params.name) continue;
    auto status = query_budget(budget, params, policy, once);
    if (!status) {
      const BudgetDays days = budget_days(budget, params.today);
      const Money nothing = Money::zero(budget.currency());
      const Money amount = budget.amount_on(days.first);
      std::string problem = std::move(status.error().message);
      status = BudgetStatus{.budget = budget,
                            .days = days,
                            .amount = amount,
                            .carried = nothing,
                            .actual = nothing,
                            .left = amount,
                            .pace = nothing};
      status->problem = std::move(problem);
    }
    statuses.push_back(*std::move(status));
  }
  if (!params.name.empty() && statuses.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no budget '{}'", params.name));
  }
  const auto hierarchy = check_hierarchy(params.budgets, params.today);
  for (BudgetStatus& status : statuses) {
    const auto note = hierarchy.find(status.budget.name);
    if (note != hierarchy.end()) status.notes.push_back(note->second);
  }
  return statuses;
}

std::vector<Table> budget_tables(std::span<const BudgetStatus> statuses) {
  std::map<std::pair<bool, std::string>, Table> tables;
  for (const BudgetStatus& status : statuses) {
    const Currency currency = status.budget.currency();
    const bool is_time = currency == kGpuHourUnit;
    auto [place, is_new] = tables.try_emplace({is_time, currency.text()});
    Table& table = place->second;
    if (is_new) {
      table.title = is_time ? "Budgets in GPU-hours" : "Budgets in " + currency.text();
      if (!is_time) table.currency = currency;
      table.columns = budget_columns();
    }
    std::string scope;
    for (const std::string& filter : status.budget.filters) {
      scope += (scope.empty() ? "" : " ") + filter;
    }
    std::vector<Cell> row{
        status.budget.name, status.budget.owner,        scope.empty() ? "everything" : scope,
        status.budget.cost, to_text(status.days.first), to_text(status.days.last),
        status.amount};
    if (status.problem.empty()) {
      add_measures(status, row);
    } else {
      row.resize(table.columns.size() - 1);
      table.notes.push_back(fmt::format("{}: {}", status.budget.name, status.problem));
    }
    row.emplace_back(std::string(status.state()));
    table.rows.push_back(std::move(row));
    for (const std::string& note : status.notes) {
      table.notes.push_back(fmt::format("{}: {}", status.budget.name, note));
    }
  }
  std::vector<Table> all;
  for (auto& [key, table] : tables) all.push_back(std::move(table));
  if (all.empty()) {
    Table& none = all.emplace_back();
    none.title = "Budgets";
    none.columns = budget_columns();
  }
  return all;
}

}  // namespace pennyweight
