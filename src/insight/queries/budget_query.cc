#include "insight/queries/budget_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "core/try.h"
#include "insight/budgets/budget_period.h"
#include "insight/queries/known_events.h"
#include "insight/queries/month_budgets.h"
#include "insight/queries/scope_costs.h"
#include "reporting/number_format.h"
#include "reporting/queries/currency.h"

namespace pennyweight {
namespace {

constexpr int kForecastDaysLeftMax = 400;
// Of costs that ended longer ago a forecast of today would say nothing.
constexpr int kHistoryAgeDaysMax = 35;
// Their days are in memory at the same time: 400 days of 500 scopes are 200,000 rows.
constexpr std::size_t kBudgetsAtOnce = 500;

struct PeriodQuery : BudgetQuery {
  std::optional<Date> period_day = {};  // the period that holds it; nothing: that of today
};

Result<std::vector<SummaryFilter>> scope_filters(const Budget& budget, const Policy& policy) {
  std::vector<SummaryFilter> filters;
  for (const std::string& text : budget.filters) {
    const auto more = TRY(parse_filter(text, policy));
    filters.insert(filters.end(), more.begin(), more.end());
  }
  return filters;
}

BudgetDays period_of(const Budget& budget, const PeriodQuery& params) {
  return budget_days(budget, params.period_day.value_or(params.today));
}

Date first_day_of(const Budget& budget, const PeriodQuery& params) {
  Date first = period_of(budget, params).first;
  if (budget.rolls_over && budget.from) first = std::min(first, *budget.from);
  return std::min(first, params.today - std::chrono::days(kBudgetHistoryDays));
}

// What the costs in a budget's scope are in its currency. Which days are complete is asked of all
// costs as they are billed: a rate that is missing elsewhere is no problem of this budget.
SummarySource in_currency_of(const Budget& budget, const SummarySource& summarise,
                             CurrencyConversion& conversion) {
  return [has_scope = !budget.filters.empty(), summarise,
          converted = convert_source(summarise, conversion)](const SummaryQuery& query) {
    return has_scope && query.filters.empty() ? summarise(query) : converted(query);
  };
}

// The rates of the period; where it has none yet, the last ones of the history of its forecast.
std::optional<std::string> rates_note(const CurrencyConversion& conversion, Date since,
                                      bool has_forecast) {
  std::vector<std::string> rates = conversion.used(since);
  if (rates.empty() && has_forecast) rates = conversion.used();
  if (rates.empty()) return std::nullopt;
  constexpr std::size_t kNamedMax = 3;
  const std::size_t named = std::min(rates.size(), kNamedMax);
  const std::span last = std::span(rates).last(named);
  return fmt::format("costs in other currencies are converted to {}: {}{}", conversion.to().text(),
                     fmt::join(last, "; "),
                     named < rates.size() ? ", and those of earlier months at theirs" : "");
}

// All days of the scope of a budget; complete or not.
Result<SpentDays> spent_days(const Budget& budget, const PeriodQuery& params, const Policy& policy,
                             const SummarySource& summarise) {
  SummaryQuery query;
  query.bucket = TimeBucket::kDay;
  query.filters = TRY(scope_filters(budget, policy));
  query.first_day = first_day_of(budget, params);
  query.last_day = params.period_day.value_or(params.today);
  const auto rows = TRY(summarise(query));
  SpentDays spent;
  for (const SummaryRow& row : rows) {
    if (!row.bucket) continue;
    const Money cost = TRY(budget_cost(row, budget.cost));
    if (cost.currency() != budget.currency()) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("its amount is in {}, and its scope has costs in {}: add the filter "
                      "currency={}, have a budget for each currency, or set currencies.report and "
                      "currencies.rates, by which they are converted",
                      budget.currency().text(), cost.currency().text(), budget.currency().text()));
    }
    const auto place = spent.days.try_emplace(*row.bucket, Money::zero(cost.currency()));
    place.first->second += cost;
  }
  spent.complete_until = params.today - std::chrono::days(1);
  return spent;
}

// Days before the period tell nothing more, but that there were costs at all.
void forget_earlier_days(SpentDays& spent, const Budget& budget, const BudgetDays& period) {
  if (budget.rolls_over || spent.days.empty()) return;
  const auto begin = spent.days.lower_bound(period.first);
  if (begin == spent.days.begin()) return;
  spent.days.erase(spent.days.begin(), std::prev(begin));
}

Result<BudgetFacts> find_facts(const Budget& budget, const PeriodQuery& params,
                               const Policy& policy, const SummarySource& as_billed) {
  BudgetFacts facts;
  std::optional<CurrencyConversion> conversion;
  SummarySource summarise = as_billed;
  if (params.conversion && budget.currency() != kGpuHourUnit) {
    conversion.emplace(budget.currency(), params.conversion->rates, params.conversion->search);
    summarise = in_currency_of(budget, as_billed, *conversion);
  }
  facts.spent = TRY(spent_days(budget, params, policy, summarise));
  const DailyCostQuery costs{.by = {},
                             .filters = budget.filters,
                             .cost = budget.cost,
                             .today = params.today,
                             .complete_until = params.complete_until};
  auto history = query_daily_costs(costs, policy, summarise);
  if (history) {
    facts.spent.complete_until = history->last_day();
    const auto left = (period_of(budget, params).last - history->last_day()).count();
    const auto age = (params.today - history->last_day()).count();
    facts.is_outdated = left > 0 && age > kHistoryAgeDaysMax;
    if (params.forecasts && facts.is_outdated) {
      facts.notes.push_back(
          fmt::format("no forecast, since the last complete day is {} days ago", age));
    } else if (params.forecasts && left > 0 && left <= kForecastDaysLeftMax) {
      const auto events =
          convert_events(params.events, conversion ? &*conversion : nullptr, history->last_day());
      EventChoice choice = choose_events(events, "", TRY(scope_filters(budget, policy)),
                                         static_cast<int>(left), *history);
      std::ranges::move(choice.notes, std::back_inserter(facts.notes));
      const forecasting::CostForecastRequest request{.first_day = history->first_day,
                                                     .parts = history->parts,
                                                     .missing = history->missing,
                                                     .horizon = static_cast<int>(left),
                                                     .events = std::move(choice.events)};
      BudgetForecasts fresh;
      BudgetForecasts& kept = params.kept == nullptr ? fresh : *params.kept;
      facts.forecast = TRY(kept.forecast(budget.name, request));
    }
    // Where there is no forecast for that reason, the note of it says how old the costs are.
    std::ranges::copy_if(history->notes, std::back_inserter(facts.notes),
                         [&](const std::string& note) {
                           return !facts.is_outdated || !note.starts_with("the last complete day");
                         });
  } else if (history.error().code != ErrorCode::kNotFound) {
    return std::unexpected(history.error());
  }
  const BudgetDays period = period_of(budget, params);
  if (conversion) {
    auto note = rates_note(*conversion, period.first, facts.forecast.has_value());
    if (note) facts.notes.push_back(*std::move(note));
  }
  forget_earlier_days(facts.spent, budget, period);
  return facts;
}

// Adds what is known live of today, and of days of the month that the ledger does not have yet.
void add_live(SpentDays& spent, std::vector<std::string>& notes, const Budget& budget,
              const LiveCost& live, Date today) {
  auto& days = spent.days;
  const Money zero = Money::zero(budget.currency());
  // The ledger may know a part of today already; the larger of the two counts.
  const auto place = days.try_emplace(today, zero).first;
  if (place->second.ticks() < live.today.ticks()) place->second = live.today;
  const Date yesterday = today - std::chrono::days(1);
  const bool is_settled = spent.complete_until >= yesterday;
  if (budget.period != BudgetPeriod::kMonth || budget.cost != "effective" || !live.month ||
      is_settled) {
    return;
  }
  const Date first = budget_days(budget, today).first;
  if (first == today) return;
  Money known = zero;
  for (auto at = days.lower_bound(first); at != days.end() && at->first < today; ++at) {
    known += at->second;
  }
  const Money missing = *live.month - live.today - known;
  if (missing.ticks() <= 0) return;
  days.try_emplace(yesterday, zero).first->second += missing;
  notes.push_back(fmt::format(
      "{} {} of days after {} that the ledger does not have yet are counted live",
      to_text(missing.amount()), missing.currency().text(), to_text(spent.complete_until)));
}

void add_committed(const LiveCost& live, BudgetStatus& status) {
  status.committed = live.committed;
  if (live.without_price > 0) {
    status.notes.push_back(fmt::format(
        "what {} with a time limit, but without a price in {}, will cost is not in what is "
        "committed",
        counted(live.without_price, "running workload"), status.amount.currency().text()));
  }
  if (!live.without_rate.empty()) {
    status.notes.push_back(
        fmt::format("what runs now at prices in {} is not counted: there is no rate from it to {}",
                    live.without_rate, status.amount.currency().text()));
  }
  if (!live.committed) return;
  if (live.without_limit > 0) {
    status.notes.push_back(
        fmt::format("what {} without a time limit will cost is not in what is committed",
                    counted(live.without_limit, "running workload")));
  }
  const Money together = status.actual + *live.committed;
  if (!status.left.is_negative() && together.ticks() > status.amount.ticks()) {
    status.notes.push_back(
        fmt::format("if what runs now runs to its time limit, {} {} more than the amount are spent",
                    to_text((together - status.amount).amount()), together.currency().text()));
  }
}

BudgetStatus problem_status(const Budget& budget, const BudgetDays& days, std::string problem) {
  const Money nothing = Money::zero(budget.currency());
  const Money amount = budget.amount_on(days.first);
  BudgetStatus status{.budget = budget,
                      .days = days,
                      .amount = amount,
                      .carried = nothing,
                      .actual = nothing,
                      .left = amount,
                      .pace = nothing};
  status.problem = std::move(problem);
  return status;
}

// What is kept is of the period that holds today.
bool is_keeping(const PeriodQuery& params) {
  return params.version && params.kept != nullptr && !params.period_day;
}

BudgetStatus measure(const Budget& budget, const BudgetFacts& facts,
                     const std::optional<LiveCost>& live, const PeriodQuery& params) {
  const BudgetDays period = period_of(budget, params);
  if (!facts.problem.empty()) return problem_status(budget, period, facts.problem);
  std::vector<std::string> notes = facts.notes;
  std::optional<SpentDays> with_live;
  if (live) add_live(with_live.emplace(facts.spent), notes, budget, *live, params.today);
  const SpentDays& spent = with_live ? *with_live : facts.spent;
  BudgetStatus status = measure_period(budget, period, spent, params.today, facts.forecast);
  if (live) add_committed(*live, status);
  status.is_outdated = facts.is_outdated;
  std::ranges::move(notes, std::back_inserter(status.notes));
  return status;
}

// Measured, or as it was measured by the same facts and the same live cost.
BudgetStatus status_of(const Budget& budget, const std::shared_ptr<const BudgetFacts>& facts,
                       const PeriodQuery& params) {
  const auto live = params.live_cost ? params.live_cost(budget) : std::nullopt;
  if (!is_keeping(params)) return measure(budget, *facts, live, params);
  auto status = params.kept->status(budget.name, facts, live);
  if (status == nullptr) {
    status = std::make_shared<const BudgetStatus>(measure(budget, *facts, live, params));
    params.kept->keep(facts, live, status);
  }
  return *status;
}

// The facts of some budgets, in their order; from few queries for all of them.
std::vector<std::shared_ptr<const BudgetFacts>> facts_of(std::span<const Budget* const> budgets,
                                                         const PeriodQuery& params,
                                                         const Policy& policy,
                                                         const SummarySource& summarise) {
  const FactsMoment moment{.version = params.version.value_or(0),
                           .today = params.today,
                           .complete_until = params.complete_until,
                           .forecasts = params.forecasts,
                           .events = hash_of_events(params.events),
                           .rates = params.conversion ? params.conversion->version : 0};
  const bool keeps = is_keeping(params);
  std::vector<std::shared_ptr<const BudgetFacts>> all(budgets.size());
  std::vector<ScopeCosts::Scope> scopes;
  Date first = params.today - std::chrono::days(kBudgetHistoryDays);
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    if (keeps) all[i] = params.kept->facts(*budgets[i], moment);
    if (all[i]) continue;
    first = std::min(first, first_day_of(*budgets[i], params));
    if (const auto scope = scope_filters(*budgets[i], policy)) scopes.push_back(*scope);
  }
  ScopeCosts costs(scopes, first, params.today, summarise, params.conversion.has_value());
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    if (all[i]) continue;
    auto found = find_facts(*budgets[i], params, policy,
                            [&](const SummaryQuery& query) { return costs.summarise(query); });
    // What the world could not tell may be told the next time, so it is not kept.
    const bool is_kept = keeps && (found || found.error().code == ErrorCode::kBadValue);
    if (!found) found = BudgetFacts{.problem = found.error().message};
    all[i] = std::make_shared<const BudgetFacts>(*std::move(found));
    if (is_kept) params.kept->keep(*budgets[i], moment, all[i]);
  }
  return all;
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
  row.push_back(optional_money(status.committed));
}

// What is committed is known while `serve` runs only; its column is there all the same, so that
// programs find the same columns each time.
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
          {"committed", "committed", ColumnKind::kMoney},
          {"state", "state"}};
}

Result<std::vector<BudgetStatus>> measure_budgets(const PeriodQuery& params, const Policy& policy,
                                                  const SummarySource& summarise) {
  // The costs of all days are the same for every budget.
  using WholeKey = std::tuple<std::optional<Date>, std::optional<Date>, bool>;
  std::map<WholeKey, std::vector<SummaryRow>> whole;
  const std::vector<std::string> by_month = converted_group_by({});
  const SummarySource once = [&](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
    const bool is_by_month = query.group_by == by_month;
    const bool is_whole = query.filters.empty() && (query.group_by.empty() || is_by_month);
    if (!is_whole) return summarise(query);
    const WholeKey key(query.first_day, query.last_day, is_by_month);
    const auto known = whole.find(key);
    if (known != whole.end()) return known->second;
    auto rows = TRY(summarise(query));
    return whole.emplace(key, std::move(rows)).first->second;
  };
  std::vector<const Budget*> chosen;
  for (const Budget& budget : params.budgets) {
    if (params.name.empty() || budget.name == params.name) chosen.push_back(&budget);
  }
  std::vector<BudgetStatus> statuses;
  for (std::size_t begin = 0; begin < chosen.size(); begin += kBudgetsAtOnce) {
    const auto part =
        std::span(chosen).subspan(begin, std::min(kBudgetsAtOnce, chosen.size() - begin));
    const auto facts = facts_of(part, params, policy, once);
    for (std::size_t i = 0; i < part.size(); ++i) {
      statuses.push_back(status_of(*part[i], facts[i], params));
    }
  }
  if (!params.name.empty() && statuses.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no budget '{}'", params.name));
  }
  const auto hierarchy = check_hierarchy(params.budgets, params.period_day.value_or(params.today));
  const auto same_scopes = find_same_scopes(params.budgets);
  for (BudgetStatus& status : statuses) {
    for (const auto* notes : {&hierarchy, &same_scopes}) {
      const auto note = notes->find(status.budget.name);
      if (note != notes->end()) status.notes.push_back(note->second);
    }
  }
  return statuses;
}

}  // namespace

LiveConversion live_conversion(const BudgetConversion& conversion, Date today) {
  using Conversions = std::map<Currency, CurrencyConversion>;
  return [conversion, month = to_text(today).substr(0, 7), to = std::make_shared<Conversions>()](
             const Money& amount, const Currency& currency) -> std::optional<Money> {
    const auto place = to->try_emplace(currency, currency, conversion.rates, conversion.search);
    const auto converted = place.first->second.convert(amount, month);
    return converted ? std::optional(*converted) : std::nullopt;
  };
}

Result<std::vector<BudgetStatus>> query_budgets(const BudgetQuery& params, const Policy& policy,
                                                const SummarySource& summarise) {
  return measure_budgets({params, std::nullopt}, policy, summarise);
}

Result<std::vector<BudgetStatus>> query_month_budgets(BudgetQuery params, const std::string& month,
                                                      bool is_closed, const Policy& policy,
                                                      const SummarySource& summarise) {
  const std::chrono::year_month_day first(TRY(parse_date(month + "-01")));
  const Date last = std::chrono::sys_days(first.year() / first.month() / std::chrono::last);
  if (params.today <= last) return query_budgets(params, policy, summarise);
  params.today = last + std::chrono::days(1);
  if (params.complete_until) params.complete_until = std::min(*params.complete_until, last);
  if (is_closed) params.complete_until = last;
  return measure_budgets({params, last}, policy, summarise);
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
