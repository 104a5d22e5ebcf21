#include "app/alerting/forecast_keeper.h"

#include <chrono>
#include <utility>
#include <vector>

#include "app/alerting/reported_costs.h"
#include "core/try.h"
#include "insight/queries/forecast_query.h"

namespace pennyweight {

ForecastKeeper::ForecastKeeper(const Config& config, SummarySource summarise,
                               KnownEventSource events, ForecastBook& book, Log& log)
    : config_(config),
      summarise_(std::move(summarise)),
      events_(std::move(events)),
      book_(book),
      log_(log) {}

Result<void> ForecastKeeper::keep_by(const std::string& by, Date today) {
  ForecastQuery query{.costs = {.by = by, .today = today}, .days = forecasting::kKeptDays};
  ReportedCosts reported(config_.currencies, summarise_);
  const auto history = query_daily_costs(query.costs, config_.policy, reported.source());
  // A ledger without costs is not an error.
  if (!history && history.error().code == ErrorCode::kNotFound) return {};
  if (!history) return std::unexpected(history.error());
  const Date first = history->last_day() + std::chrono::days(1);
  const bool is_kept = TRY(book_.has(by, first));
  // Of costs that are weeks old a forecast tells nobody anything.
  if (is_kept || today - first > std::chrono::days(forecasting::kKeptDays)) return {};
  const auto events = TRY(events_());
  query.events = convert_events(events, reported.conversion(), history->last_day());
  const ForecastResult made = TRY(query_forecast(query, config_.policy, reported.source()));
  std::vector<forecasting::KeptForecast> kept;
  if (by.empty()) {
    kept.push_back(keep_forecast(made.forecasts.whole, first, by));
  } else {
    for (const auto& part : made.forecasts.parts) kept.push_back(keep_forecast(part, first, by));
  }
  return book_.add(kept);
}

// Of the month of the first day that is not complete.
Result<std::shared_ptr<const MonthForecast>> ForecastKeeper::forecast_month(Date today) {
  std::shared_ptr<const MonthForecast> found;
  ForecastQuery query{.costs = {.by = "", .today = today}};
  ReportedCosts reported(config_.currencies, summarise_);
  const auto history = query_daily_costs(query.costs, config_.policy, reported.source());
  if (!history && history.error().code != ErrorCode::kNotFound) {
    return std::unexpected(history.error());
  }
  if (history && today - history->last_day() <= std::chrono::days(forecasting::kKeptDays)) {
    const Date next = history->last_day() + std::chrono::days(1);
    const std::chrono::year_month_day date(next);
    const Date end = std::chrono::sys_days(date.year() / date.month() / std::chrono::last);
    const Date first = std::chrono::sys_days(date.year() / date.month() / 1);
    query.days = static_cast<int>((end - next).count()) + 1;
    const auto events = TRY(events_());
    query.events = convert_events(events, reported.conversion(), history->last_day());
    const ForecastResult made = TRY(query_forecast(query, config_.policy, reported.source()));
    const std::vector<Money>& days = made.history.parts.front().days;
    Money spent = Money::zero(days.front().currency());
    for (std::size_t t = 0; t < days.size(); ++t) {
      if (made.history.first_day + std::chrono::days(t) >= first) spent += days[t];
    }
    const auto steps = static_cast<std::size_t>(query.days);
    MonthForecast month{to_text(first).substr(0, 7), spent + made.forecasts.whole.sum(steps)};
    if (const auto range = made.forecasts.whole.sum_range(steps, 80)) {
      month.range80 = forecasting::MoneyRange{spent + range->low, spent + range->high};
    }
    found = std::make_shared<const MonthForecast>(std::move(month));
  }
  return found;
}

std::shared_ptr<const MonthForecast> ForecastKeeper::month() const {
  const std::lock_guard lock(mutex_);
  return month_;
}

void ForecastKeeper::keep(Date today) {
  std::string why;
  for (const std::string& by : {std::string(), config_.alerts.anomalies_by}) {
    if (const auto kept = keep_by(by, today); !kept) why = kept.error().message;
  }
  auto month = forecast_month(today);
  if (!month) why = month.error().message;
  {
    const std::lock_guard lock(mutex_);
    month_ = month ? *std::move(month) : nullptr;
  }
  if (std::exchange(reported_, why) == why || why.empty()) return;
  log_.warn("forecasts", {{"doing", "keep forecasts"}, {"why", why}});
}

}  // namespace pennyweight
