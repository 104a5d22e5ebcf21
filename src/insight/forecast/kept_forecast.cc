#include "insight/forecast/kept_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pennyweight::forecasting {
namespace {

// Days of one forecast err together, so that a few forecasts say little however many days they
// have.
constexpr int kForecastsMin = 14;
constexpr int kRangeDaysMin = 60;
// So many points below what it states, a range is not shown.
constexpr int kPointsBelow = 15;

bool contains(const MoneyRange& range, Money actual) {
  return range.low.ticks() <= actual.ticks() && actual.ticks() <= range.high.ticks();
}

}  // namespace

KeptForecast keep_forecast(const CostForecast& forecast, Date first, std::string by) {
  KeptForecast kept{first, std::move(by), forecast.key, {}};
  const std::size_t days = std::min(forecast.path.size(), std::size_t{kKeptDays});
  for (std::size_t h = 0; h < days; ++h) {
    kept.days.push_back({forecast.path[h], forecast.range(h, 80), forecast.range(h, 95)});
  }
  return kept;
}

bool KeptScore::judges() const { return forecasts >= kForecastsMin; }

bool KeptScore::holds(int percent) const {
  const int known = percent > 80 ? days_with_95 : days_with_80;
  const int inside = percent > 80 ? inside_95 : inside_80;
  if (!judges() || known < kRangeDaysMin) return true;
  const int stated = percent > 80 ? 95 : 80;
  return inside * 100 >= (stated - kPointsBelow) * known;
}

KeptScore score_kept(std::span<const KeptForecast> forecasts, Date first_day,
                     std::span<const Money> actual, const std::vector<bool>& missing) {
  KeptScore score;
  std::vector<ForecastDay> scored;
  for (const KeptForecast& forecast : forecasts) {
    const std::size_t before = scored.size();
    for (std::size_t h = 0; h < forecast.days.size(); ++h) {
      const auto t = (forecast.first - first_day).count() + static_cast<std::ptrdiff_t>(h);
      if (t < 0 || t >= static_cast<std::ptrdiff_t>(actual.size())) continue;
      const auto at = static_cast<std::size_t>(t);
      const KeptDay& day = forecast.days[h];
      if (at < missing.size() && missing[at]) continue;
      if (day.expected.currency() != actual[at].currency()) continue;
      scored.push_back({day.expected, day.range80, actual[at]});
      if (day.range80) {
        ++score.days_with_80;
        if (contains(*day.range80, actual[at])) ++score.inside_80;
      }
      if (day.range95) {
        ++score.days_with_95;
        if (contains(*day.range95, actual[at])) ++score.inside_95;
      }
    }
    if (scored.size() > before) ++score.forecasts;
  }
  score.days = static_cast<int>(scored.size());
  score.error_permille = score_forecast(scored).error_permille;
  return score;
}

void hide_unheld(const KeptScore& score, CostForecast& forecast) {
  for (const int percent : {80, 95}) {
    if (score.holds(percent)) continue;
    const int known = percent > 80 ? score.days_with_95 : score.days_with_80;
    const int inside = percent > 80 ? score.inside_95 : score.inside_80;
    for (RangeCheck& check : forecast.basis.checks) {
      // A range of 50 % is inside that of 80 %, and is not better.
      if (check.percent == percent || (percent == 80 && check.percent == 50)) {
        check.is_shown = false;
      }
    }
    forecast.basis.notes.push_back(fmt::format(
        "the {} % range is not shown: in {} forecasts that were kept it held on {} of {} days",
        percent, score.forecasts, inside, known));
  }
}

}  // namespace pennyweight::forecasting
