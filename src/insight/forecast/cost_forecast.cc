#include "insight/forecast/cost_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::forecasting {
namespace {

constexpr int kWeek = 7;
constexpr double kTicksPerUnit = 1e18;
// Far above any bill, and far below where a double loses the cents.
constexpr double kUnitsMax = 1e13;
constexpr std::size_t kEventTextBytesMax = 200;

double to_units(Money amount) { return static_cast<double>(amount.ticks()) / kTicksPerUnit; }

Money to_money(double units, Currency currency) {
  const double bounded = std::clamp(units, -kUnitsMax, kUnitsMax);
  const auto cents = static_cast<std::int64_t>(std::llround(bounded * 100));
  return Money::from_ticks(Int128{cents} * (Money::kTicksPerUnit / 100), currency);
}

bool is_active(const KnownEvent& event, Date day, const std::string& key) {
  if (day < event.from || (event.to && day > *event.to)) return false;
  return event.key.empty() || event.key == key;
}

std::unexpected<Error> wrong_event(const KnownEvent& event, std::string_view what) {
  return fail(ErrorCode::kBadValue,
              fmt::format("event '{}': {}", printable_text(event.name, kEventTextBytesMax), what));
}

Result<void> check_event(const KnownEvent& event, Currency currency) {
  TRY(check_known_event(event));
  if (event.per_day && event.per_day->currency() != currency) {
    return wrong_event(event, fmt::format("its amount is in {}, the costs are in {}",
                                          event.per_day->currency().text(), currency.text()));
  }
  return {};
}

Result<void> check_costs(const CostForecastRequest& request) {
  if (request.parts.empty() || request.parts.front().days.empty()) {
    return fail(ErrorCode::kBadValue, "there is no day of costs to forecast from");
  }
  const auto& first = request.parts.front().days;
  for (const DailyCosts& part : request.parts) {
    if (part.days.size() != first.size()) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("'{}' has {} days of costs, '{}' has {}", part.key, part.days.size(),
                              request.parts.front().key, first.size()));
    }
    for (const Money& day : part.days) {
      if (day.currency() != first.front().currency()) {
        return fail(ErrorCode::kBadValue,
                    fmt::format("'{}' has costs in {} and '{}' in {}; forecast one currency",
                                part.key, day.currency().text(), request.parts.front().key,
                                first.front().currency().text()));
      }
    }
  }
  for (const KnownEvent& event : request.events) TRY(check_event(event, first.front().currency()));
  return {};
}

// What the part would have cost without events. Days without data, and days on which an event left
// nothing, count as the same weekday of the week before.
std::vector<double> without_events(const CostForecastRequest& request, const DailyCosts& part) {
  std::vector<double> values;
  for (std::size_t t = 0; t < part.days.size(); ++t) {
    const Date day = request.first_day + std::chrono::days(t);
    double value = to_units(part.days[t]);
    bool is_unknown = t < request.missing.size() && request.missing[t];
    for (const KnownEvent& event : request.events) {
      if (!is_active(event, day, part.key)) continue;
      if (event.per_day) value -= to_units(*event.per_day);
      if (event.percent && *event.percent == 0) is_unknown = true;
      if (event.percent && *event.percent != 0) value *= 100.0 / *event.percent;
    }
    if (is_unknown) value = t >= kWeek ? values[t - kWeek] : t > 0 ? values[t - 1] : 0;
    values.push_back(value);
  }
  return values;
}

void apply_events(const CostForecastRequest& request, Date first, CostForecast& forecast) {
  for (std::size_t h = 0; h < forecast.path_before_rounding.size(); ++h) {
    double& value = forecast.path_before_rounding[h];
    for (const KnownEvent& event : request.events) {
      if (!is_active(event, first + std::chrono::days(h), forecast.key)) continue;
      if (event.percent) value *= *event.percent / 100.0;
      if (event.per_day) value += to_units(*event.per_day);
    }
  }
}

Result<CostForecast> forecast_one(std::string key, std::span<const double> values, int horizon) {
  CostForecast out{.key = std::move(key)};
  out.basis = TRY(forecast_series({.values = values, .seasons = {kWeek}, .horizon = horizon}));
  out.path_before_rounding = out.basis.path;
  const auto below = std::ranges::count_if(values, [](double value) { return value < 0; });
  if (below > 0) {
    out.basis.notes.push_back(
        fmt::format("{} below 0 (credits); {} as {}",
                    below == 1 ? "1 day is" : fmt::format("{} days are", below),
                    below == 1 ? "it counts" : "they count", below == 1 ? "it is" : "they are"));
  }
  return out;
}

double variance_at(const CostForecast& forecast, std::size_t day) {
  const auto& spread = forecast.basis.spread;
  return day < spread.size() ? spread[day] * spread[day] : 0;
}

// Makes the parts add up to the whole: the difference is borne by each in proportion to how
// uncertain it is (minimum trace reconciliation of Wickramasuriya and others 2019, with
// independent errors).
void reconcile_parts(CostForecast& whole, std::vector<CostForecast>& parts) {
  for (std::size_t h = 0; h < whole.path_before_rounding.size(); ++h) {
    double sum = 0;
    double variance = variance_at(whole, h);
    for (const CostForecast& part : parts) {
      sum += part.path_before_rounding[h];
      variance += variance_at(part, h);
    }
    const double gap = whole.path_before_rounding[h] - sum;
    if (variance == 0) continue;
    for (CostForecast& part : parts) {
      double& value = part.path_before_rounding[h];
      value += gap * variance_at(part, h) / variance;
      if (part.basis.is_nonnegative) value = std::max(value, 0.0);
    }
  }
}

void round_path(CostForecast& forecast, Currency currency) {
  forecast.path.clear();
  for (const double value : forecast.path_before_rounding) {
    forecast.path.push_back(to_money(value, currency));
  }
}

std::string missing_note(const CostForecastRequest& request) {
  std::string days;
  std::size_t count = 0;
  for (std::size_t t = 0; t < request.missing.size(); ++t) {
    if (!request.missing[t]) continue;
    if (++count <= 5) {
      days += fmt::format("{}{}", days.empty() ? "" : ", ",
                          to_text(request.first_day + std::chrono::days(t)));
    }
  }
  if (count == 0) return "";
  return fmt::format("no costs at all on {}{}: {} as the same weekday of the week before", days,
                     count > 5 ? fmt::format(" and {} more days", count - 5) : "",
                     count == 1 ? "it counts" : "they count");
}

}  // namespace

Result<void> check_known_event(const KnownEvent& event) {
  const auto wrong = [&](std::string_view what) { return wrong_event(event, what); };
  if (event.name.empty()) return fail(ErrorCode::kBadValue, "an event needs a name");
  for (const std::string* text : {&event.name, &event.key, &event.by}) {
    if (text->size() > kEventTextBytesMax || !is_plain_text(*text)) {
      return wrong(fmt::format("its name, key and dimension are texts of at most {} bytes",
                               kEventTextBytesMax));
    }
  }
  if (event.to && *event.to < event.from) return wrong("it ends before it begins");
  if (event.per_day.has_value() == event.percent.has_value()) {
    return wrong("it needs per_day or percent, one of them: what it adds, or what remains");
  }
  if (event.percent && (*event.percent < 0 || *event.percent > 10'000)) {
    return wrong("the percent that remains must be 0 to 10,000");
  }
  // An amount for every part would count once for each of them.
  if (event.per_day && event.key.empty()) return wrong("an amount per day needs a key it is for");
  if (event.key.empty() && !event.by.empty()) {
    return wrong(fmt::format("state which {} it is for", event.by));
  }
  return {};
}

Result<CostForecasts> forecast_costs(const CostForecastRequest& request) {
  TRY(check_costs(request));
  const Currency currency = request.parts.front().days.front().currency();
  const std::size_t n = request.parts.front().days.size();
  CostForecasts out{.first_day = request.first_day + std::chrono::days(n)};
  std::vector<double> sums(n, 0);
  for (const DailyCosts& part : request.parts) {
    const auto values = without_events(request, part);
    for (std::size_t t = 0; t < n; ++t) sums[t] += values[t];
    auto forecast = TRY(forecast_one(part.key, values, request.horizon));
    out.parts.push_back(std::move(forecast));
  }
  if (out.parts.size() == 1) {
    out.whole = out.parts.front();
    out.whole.key.clear();
  } else {
    out.whole = TRY(forecast_one("", sums, request.horizon));
    reconcile_parts(out.whole, out.parts);
  }
  for (CostForecast& part : out.parts) {
    apply_events(request, out.first_day, part);
    round_path(part, currency);
  }
  // On each day the whole is what the parts, as they are shown, add up to.
  out.whole.path.assign(static_cast<std::size_t>(request.horizon), Money::zero(currency));
  for (std::size_t h = 0; h < out.whole.path.size(); ++h) {
    for (const CostForecast& part : out.parts) out.whole.path[h] += part.path[h];
    out.whole.path_before_rounding[h] = to_units(out.whole.path[h]);
  }
  if (std::string note = missing_note(request); !note.empty()) out.notes.push_back(std::move(note));
  return out;
}

std::optional<MoneyRange> CostForecast::range(std::size_t day, int percent) const {
  if (day >= path.size()) return std::nullopt;
  const auto range = basis.range(path_before_rounding, day, percent);
  if (!range) return std::nullopt;
  return MoneyRange{to_money(range->low, path[day].currency()),
                    to_money(range->high, path[day].currency())};
}

Money CostForecast::sum(std::size_t days) const {
  Money sum = Money::zero(path.front().currency());
  for (std::size_t h = 0; h < std::min(days, path.size()); ++h) sum += path[h];
  return sum;
}

std::optional<MoneyRange> CostForecast::sum_range(std::size_t days, int percent) const {
  const auto range = basis.sum_range(path_before_rounding, days, percent);
  if (!range) return std::nullopt;
  return MoneyRange{to_money(range->low, path.front().currency()),
                    to_money(range->high, path.front().currency())};
}

std::optional<int> CostForecast::percent_above(std::size_t days, Money amount) const {
  const auto probability = basis.probability_above(path_before_rounding, days, to_units(amount));
  if (!probability) return std::nullopt;
  return static_cast<int>(std::lround(*probability * 100));
}

ForecastScore score_forecast(std::span<const ForecastDay> days) {
  ForecastScore score;
  double error = 0;
  double size = 0;
  int inside = 0;
  for (const ForecastDay& day : days) {
    ++score.days;
    error += std::abs(to_units(day.actual) - to_units(day.expected));
    size += std::abs(to_units(day.actual));
    if (!day.range80) continue;
    ++score.days_with_range;
    const Int128 actual = day.actual.ticks();
    if (day.range80->low.ticks() <= actual && actual <= day.range80->high.ticks()) ++inside;
  }
  if (size > 0) score.error_permille = static_cast<int>(std::lround(1000 * error / size));
  if (score.days_with_range > 0) score.inside_percent = inside * 100 / score.days_with_range;
  return score;
}

std::string mase_text(const std::optional<double>& mase) {
  return mase ? fmt::format("{:.3f}", *mase) : "-";
}

std::string percent_text(double share) { return fmt::format("{:.1f}", share * 100); }

}  // namespace pennyweight::forecasting
