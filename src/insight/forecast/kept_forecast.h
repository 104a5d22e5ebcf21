// Forecasts that were kept, and how near they came once the days that they are about are known.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/money.h"
#include "insight/forecast/cost_forecast.h"

namespace pennyweight::forecasting {

// How many days ahead a kept forecast reaches.
inline constexpr int kKeptDays = 31;

struct KeptDay {
  Money expected;
  std::optional<MoneyRange> range80;  // nothing: it was not shown
  std::optional<MoneyRange> range95;
};

// Of effective costs, as it was made when `first` was the day after the last complete one.
struct KeptForecast {
  Date first;
  std::string by;   // a dimension; empty: everything together
  std::string key;  // of that dimension
  std::vector<KeptDay> days;
};

// The first kKeptDays of a forecast.
KeptForecast keep_forecast(const CostForecast& forecast, Date first, std::string by);

struct KeptScore {
  int forecasts = 0;                       // of which a day at least is known now
  int days = 0;                            // of all of them
  std::optional<int> error_permille = {};  // WAPE; nothing where nothing was spent
  int days_with_80 = 0;
  int inside_80 = 0;
  int days_with_95 = 0;
  int inside_95 = 0;

  // Whether so many forecasts and days are known that ranges are judged by them.
  bool judges() const;
  // False where ranges of so many percent held far less than they should. True while too little is
  // known.
  bool holds(int percent) const;
};

// `actual` are the costs of the days from `first_day` on, in the order of days; days that are
// `missing` are not scored. Forecasts in another currency are not counted.
KeptScore score_kept(std::span<const KeptForecast> forecasts, Date first_day,
                     std::span<const Money> actual, const std::vector<bool>& missing);

// Hides the ranges that did not hold, and says so in a note.
void hide_unheld(const KeptScore& score, CostForecast& forecast);

}  // namespace pennyweight::forecasting
