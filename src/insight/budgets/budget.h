// Budget: how much a scope may cost in a period, who owns it, and how far it has come.
//
// Exact: amounts, sums and roll-over are Money. Only the forecast that is handed in is an estimate.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/money.h"
#include "insight/forecast/cost_forecast.h"

namespace pennyweight {

// The "currency" of budgets and forecasts in GPU-hours: ISO 4217's code for "no currency", three X.
inline constexpr Currency kGpuHourUnit{"\x58XX"};

// The costs of so many days, and of all days of roll-over, are known of a budget.
inline constexpr int kBudgetHistoryDays = 400;

// Which cost counts where nobody says it, and what stands in its place in a budget of GPU-hours.
inline constexpr std::string_view kUsualCost = "effective";
inline constexpr std::string_view kGpuHourCost = "gpu_hours";

enum class BudgetPeriod { kDay, kWeek, kMonth, kQuarter, kYear, kProject };
std::optional<BudgetPeriod> parse_budget_period(std::string_view text);  // "month"
std::string_view to_text(BudgetPeriod period);

// What a period may cost from a day on. Budgets keep what they allowed earlier.
struct BudgetAmount {
  Date from;
  Money amount;
  bool operator==(const BudgetAmount&) const = default;
};

struct Budget {
  std::string name = {};
  std::string owner = {};                 // who is responsible; may be empty
  std::vector<std::string> filters = {};  // its scope, "team=nlp"; empty: everything
  std::string cost{kUsualCost};           // effective, billed, list, contracted or gpu_hours
  BudgetPeriod period = BudgetPeriod::kMonth;
  std::optional<Date> from = {};           // of a project, and where roll-over begins
  std::optional<Date> to = {};             // of a project, inclusive
  std::vector<BudgetAmount> amounts = {};  // by date; never empty
  bool rolls_over = false;                 // what is left of a period is added to the next one
  std::string parent = {};                 // the budget that this one is a part of
  bool operator==(const Budget&) const = default;

  Currency currency() const { return amounts.front().amount.currency(); }
  // What a period that begins on `day` may cost, without roll-over.
  Money amount_on(Date day) const;
};

// Names of other budgets are not checked here. Error of kBadValue: no amount, amounts in two
// currencies or below 0, a project without both dates, roll-over without `from`.
Result<void> check_budget(const Budget& budget);

struct BudgetDays {
  Date first;
  Date last;  // inclusive
  int count() const { return static_cast<int>((last - first).count()) + 1; }
  bool operator==(const BudgetDays&) const = default;
};
// Of a budget that is set anew: its name, owner, parent and filters have no control characters,
// such as line ends, which would look like another budget where it is listed. Error of kBadValue.
Result<void> check_budget_texts(const Budget& budget);

// The period that holds `day`. A week begins on Monday. A project has one period.
BudgetDays budget_days(const Budget& budget, Date day);

// Costs of the scope of a budget, by day.
struct SpentDays {
  std::map<Date, Money> days = {};  // days without cost may be absent
  Date complete_until = {};         // later days may still grow
};

// How far a budget has come, in permille where it is a share.
struct BudgetStatus {
  Budget budget = {};
  BudgetDays days = {};
  Money amount;   // of the period, with what was carried over
  Money carried;  // of earlier periods; may be below 0
  Money actual;   // spent so far, days that are not complete included
  // What running work with a time limit will still cost in the period, if it runs as long as it
  // may.
  std::optional<Money> committed = {};
  Money left;                               // amount - actual; below 0 where it is exceeded
  Money pace;                               // what would be spent by now at an even pace
  std::optional<int> actual_permille = {};  // of the amount; nothing where that is 0
  std::optional<Money> linear =
      {};  // actual by complete days, times the days of the period; from 3 days on
  std::optional<Money> forecast = {};  // of the whole period: actual and the days to come
  std::optional<forecasting::MoneyRange> forecast_80 = {};
  std::string_view forecast_method = {};  // as people read it; static
  std::optional<int> percent_above = {};  // probability that the period costs more
  std::optional<Date> exhausted_on = {};  // the day on which the amount was exceeded
  std::optional<Date> exhausts_on = {};   // the day on which the forecast exceeds it
  std::vector<std::string> notes = {};
  std::string problem =
      {};  // why it could not be measured: then only budget, days and amount are set
  bool is_outdated = false;  // the last complete day is weeks ago, and the period goes on
  // It has begun, and no cost that is known matches its scope: that may be misspelt.
  bool is_unmatched = false;
  // "unknown" (it could not be measured, or only long ago, or no cost matches its scope),
  // "exceeded", "at risk" (the forecast exceeds it, or the probability is 80 % or more),
  // "on track".
  std::string_view state() const;
  bool operator==(const BudgetStatus&) const = default;
};

// `forecast` begins on the day after spent.complete_until; nothing: none could be made.
// REQUIRES: check_budget() has passed; costs in the budget's currency.
BudgetStatus measure_budget(const Budget& budget, const SpentDays& spent, Date today,
                            const std::optional<forecasting::CostForecast>& forecast);

// Whether the budgets that name another one as parent plan more than it has. Returns a sentence for
// each such parent, by its name; also for parents that don't exist and for circles.
std::map<std::string, std::string> check_hierarchy(std::span<const Budget> budgets, Date today);

// The other budgets of the same scope, period, cost and currency, as a sentence for each that has
// one, by its name: what is spent counts in all of them. Of one that is a part of the other, that
// is meant.
std::map<std::string, std::string> find_same_scopes(std::span<const Budget> budgets);

// Thresholds that a period has reached, such as "80 % spent": each is one notification a period.
struct BudgetThreshold {
  int percent = 100;
  bool is_forecast = false;  // of the forecast, or of what was spent
};
std::vector<BudgetThreshold> reached_thresholds(const BudgetStatus& status);

}  // namespace pennyweight
