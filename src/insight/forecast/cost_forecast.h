// Forecasts daily costs: the whole and its parts, such as teams, that add up to it.
//
// Costs go in and come out as Money. A forecast is an estimate, so it is rounded to hundredths of
// the currency; it is never booked.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/money.h"
#include "insight/forecast/forecast.h"

namespace pennyweight::forecasting {

// Something that a person knows: a client starts, a reservation ends, a holiday. One of the two
// effects is set.
struct KnownEvent {
  std::string name;
  Date from;
  std::optional<Date> to = {};        // inclusive; nothing: from then on
  std::string key = {};               // of the part it changes; empty: of every part, by percent
  std::string by = {};                // the dimension of `key`, "team"; empty: any that has it
  std::optional<Money> per_day = {};  // is added on each day
  std::optional<int> percent = {};    // 0 to 10,000: what remains of a day's cost
  bool operator==(const KnownEvent&) const = default;
};

// Error of kBadValue: an event without a name, or with one that is no plain text; that ends before
// it begins; that has no effect, or two; an amount for no key; a dimension for no key.
Result<void> check_known_event(const KnownEvent& event);

struct DailyCosts {
  std::string key;
  std::vector<Money> days;  // of one currency, from request.first_day on
  bool operator==(const DailyCosts&) const = default;
};

struct CostForecastRequest {
  Date first_day;
  std::vector<DailyCosts> parts;   // all of the same length
  std::vector<bool> missing = {};  // by day: no cost of anything is known; empty: none is missing
  int horizon = 30;                // days
  std::vector<KnownEvent> events = {};
  bool operator==(const CostForecastRequest&) const = default;
};

struct MoneyRange {
  Money low;
  Money high;
  bool operator==(const MoneyRange&) const = default;
};

struct CostForecast {
  std::string key = {};
  std::vector<Money> path = {};  // by day
  SeriesForecast basis = {};     // method, scores, notes, errors
  std::vector<double> path_before_rounding = {};

  std::optional<MoneyRange> range(std::size_t day, int percent) const;
  Money sum(std::size_t days) const;  // REQUIRES: at least one day is forecast
  std::optional<MoneyRange> sum_range(std::size_t days, int percent) const;
  // In percent, 0 to 100: how probable it is that the first `days` cost more than `amount`.
  std::optional<int> percent_above(std::size_t days, Money amount) const;
};

struct CostForecasts {
  Date first_day;                        // of the forecast
  CostForecast whole = {};               // on each day the sum of the parts
  std::vector<CostForecast> parts = {};  // in the order of the request
  std::vector<std::string> notes = {};
};

// Error of kBadValue: no part, no day, two currencies, parts of different lengths, an event that
// check_known_event() refuses or whose amount is in another currency.
Result<CostForecasts> forecast_costs(const CostForecastRequest& request);

// How good an earlier forecast was.
struct ForecastScore {
  std::optional<int> error_permille;  // WAPE; nothing where nothing was spent
  int inside_percent = 0;             // days on which the 80 % range held
  int days = 0;
  int days_with_range = 0;
};
struct ForecastDay {
  Money expected;
  std::optional<MoneyRange> range80;
  Money actual;
};
ForecastScore score_forecast(std::span<const ForecastDay> days);

// "1.234" of a MASE, or "-".
std::string mase_text(const std::optional<double>& mase);
// "81.5" of a share of 0 to 1, in percent.
std::string percent_text(double share);

}  // namespace pennyweight::forecasting
