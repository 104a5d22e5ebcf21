#include "insight/queries/forecast_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "core/try.h"
#include "insight/queries/known_events.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

using forecasting::CostForecast;
using forecasting::MoneyRange;

const std::string& key_title(const ForecastQuery& params) {
  static const std::string kAll = "scope";
  return params.costs.by.empty() ? kAll : params.costs.by;
}

void add_range(Row& row, const std::optional<MoneyRange>& range) {
  row.push_back(range ? Cell{range->low} : Cell{});
  row.push_back(range ? Cell{range->high} : Cell{});
}

std::vector<Column> range_columns(const ForecastQuery& params) {
  std::vector<Column> columns = {{"low_80", "80 % from", ColumnKind::kMoney},
                                 {"high_80", "to", ColumnKind::kMoney},
                                 {"low_95", "95 % from", ColumnKind::kMoney},
                                 {"high_95", "to", ColumnKind::kMoney}};
  if (params.half) {
    const Column half[] = {{"low_50", "50 % from", ColumnKind::kMoney},
                           {"high_50", "to", ColumnKind::kMoney}};
    columns.insert(columns.begin(), std::begin(half), std::end(half));
  }
  return columns;
}

// `range_of` gives the range that holds so many percent.
template <class RangeOf>
void add_ranges(Row& row, const ForecastQuery& params, const RangeOf& range_of) {
  if (params.half) add_range(row, range_of(50));
  add_range(row, range_of(80));
  add_range(row, range_of(95));
}

Row sum_row(const CostForecast& forecast, const std::string& key, const ForecastQuery& params) {
  const auto steps = static_cast<std::size_t>(params.days);
  Row row{key, forecast.sum(steps)};
  add_ranges(row, params, [&](int percent) { return forecast.sum_range(steps, percent); });
  row.emplace_back(std::string(forecasting::method_name(forecast.basis.method)));
  return row;
}

Table sum_table(const ForecastResult& result, const ForecastQuery& params) {
  Table table;
  table.columns = {{key_title(params), key_title(params)},
                   {"forecast", "forecast", ColumnKind::kMoney}};
  for (const Column& column : range_columns(params)) table.columns.push_back(column);
  table.columns.push_back({"method", "method"});
  for (const CostForecast& part : result.forecasts.parts) {
    table.rows.push_back(sum_row(part, part.key, params));
  }
  if (result.forecasts.parts.size() > 1) {
    table.total = sum_row(result.forecasts.whole, "total", params);
  }
  return table;
}

void add_day_rows(Table& table, const CostForecast& forecast, const ForecastQuery& params,
                  Date first) {
  for (std::size_t h = 0; h < forecast.path.size(); ++h) {
    Row row{to_text(first + std::chrono::days(h)), forecast.key, forecast.path[h]};
    add_ranges(row, params, [&](int percent) { return forecast.range(h, percent); });
    table.rows.push_back(std::move(row));
  }
}

Table day_table(const ForecastResult& result, const ForecastQuery& params) {
  Table table;
  table.columns = {{"day", "day"},
                   {key_title(params), key_title(params)},
                   {"forecast", "forecast", ColumnKind::kMoney}};
  for (const Column& column : range_columns(params)) table.columns.push_back(column);
  for (const CostForecast& part : result.forecasts.parts) {
    add_day_rows(table, part, params, result.forecasts.first_day);
  }
  return table;
}

std::string month_of(Date day) { return to_text(day).substr(0, 7); }

// What was spent in the month of `day` before the forecast begins.
Money spent_in_month(const ForecastResult& result, const forecasting::DailyCosts& costs,
                     const std::string& month) {
  Money sum = Money::zero(costs.days.front().currency());
  for (std::size_t t = 0; t < costs.days.size(); ++t) {
    if (month_of(result.history.first_day + std::chrono::days(t)) == month) sum += costs.days[t];
  }
  return sum;
}

std::optional<MoneyRange> sum_difference(const CostForecast& forecast, std::size_t begin,
                                         std::size_t end, int percent, Money spent) {
  // From the first day on the errors of sums are known; a later month takes the width of the sum
  // up to its end, around its own middle, which is wider than it need be and never narrower.
  const auto range = forecast.sum_range(end, percent);
  if (!range) return std::nullopt;
  const Money before = forecast.sum(begin);
  Money low = range->low - before;
  // Where no day was below 0, no month is.
  if (forecast.basis.is_nonnegative && low.is_negative()) low = Money::zero(low.currency());
  return MoneyRange{low + spent, range->high - before + spent};
}

Table month_table(const ForecastResult& result, const ForecastQuery& params) {
  Table table;
  table.columns = {{"month", "month"},
                   {key_title(params), key_title(params)},
                   {"spent", "spent", ColumnKind::kMoney},
                   {"forecast", "forecast", ColumnKind::kMoney}};
  for (const Column& column : range_columns(params)) table.columns.push_back(column);
  table.columns.push_back({"days", "days ahead", ColumnKind::kCount});
  const auto steps = static_cast<std::size_t>(params.days);
  for (std::size_t i = 0; i < result.forecasts.parts.size(); ++i) {
    const CostForecast& part = result.forecasts.parts[i];
    for (std::size_t begin = 0; begin < steps;) {
      const std::string month = month_of(result.forecasts.first_day + std::chrono::days(begin));
      std::size_t end = begin;
      while (end < steps &&
             month_of(result.forecasts.first_day + std::chrono::days(end)) == month) {
        ++end;
      }
      const Money spent = spent_in_month(result, result.history.parts[i], month);
      Row row{month, part.key, spent, spent + part.sum(end) - part.sum(begin)};
      add_ranges(row, params,
                 [&](int percent) { return sum_difference(part, begin, end, percent, spent); });
      row.emplace_back(static_cast<std::uint64_t>(end - begin));
      table.rows.push_back(std::move(row));
      begin = end;
    }
  }
  return table;
}

void add_notes(const ForecastResult& result, Table& table) {
  std::ranges::copy(result.history.notes, std::back_inserter(table.notes));
  std::ranges::copy(result.forecasts.notes, std::back_inserter(table.notes));
  bool hides = false;
  const auto add = [&](const CostForecast& forecast) {
    for (const std::string& note : forecast.basis.notes) {
      table.notes.push_back(fmt::format("{}: {}", forecast.key, note));
    }
    for (const auto& check : forecast.basis.checks) hides = hides || !check.is_shown;
  };
  for (const CostForecast& part : result.forecasts.parts) add(part);
  if (hides) {
    table.notes.emplace_back(
        "a range is left out where earlier forecasts are too few or did not hold it; the table of "
        "methods (explain) shows the check");
  }
}

// Days without costs have no errors, and what a person knows has no range.
void describe_new_part(CostForecast& part) {
  for (auto& check : part.basis.checks) check.is_shown = false;
  part.basis.notes = {"no costs so far: what is known of its days to come is all that is forecast"};
}

// What a query asks for, as forecasts are kept: a dimension, and its value where one filter selects
// it.
struct KeptName {
  std::string by;
  std::optional<std::string> key;
};
std::optional<KeptName> kept_name(const DailyCostQuery& costs) {
  if (costs.cost != "effective") return std::nullopt;
  if (costs.filters.empty()) {
    return KeptName{costs.by, costs.by.empty() ? std::optional(std::string()) : std::nullopt};
  }
  const std::string& filter = costs.filters.front();
  const std::size_t equals = filter.find('=');
  const bool is_one_value = costs.filters.size() == 1 && costs.by.empty() &&
                            equals != std::string::npos && equals > 0 &&
                            filter[equals - 1] != '!' && filter.find_first_of(",\\") == filter.npos;
  if (!is_one_value) return std::nullopt;
  return KeptName{filter.substr(0, equals), filter.substr(equals + 1)};
}

Result<void> judge_by_kept(const ForecastQuery& params, ForecastResult& result) {
  const auto name = kept_name(params.costs);
  if (!params.kept || !name) return {};
  const auto all = TRY(params.kept(name->by));
  const auto score_of = [&](std::span<const forecasting::KeptForecast> kept, const std::string& key,
                            std::span<const Money> days) {
    std::vector<forecasting::KeptForecast> own;
    std::ranges::copy_if(kept, std::back_inserter(own),
                         [&](const forecasting::KeptForecast& one) { return one.key == key; });
    return forecasting::score_kept(own, result.history.first_day, days, result.history.missing);
  };
  for (std::size_t i = 0; i < result.forecasts.parts.size(); ++i) {
    CostForecast& part = result.forecasts.parts[i];
    const std::string key = name->key.value_or(part.key);
    result.kept.push_back(score_of(all, key, result.history.parts[i].days));
    hide_unheld(result.kept.back(), part);
    if (result.forecasts.parts.size() == 1) hide_unheld(result.kept.back(), result.forecasts.whole);
  }
  if (result.forecasts.parts.size() == 1) return {};
  const auto of_whole = TRY(params.kept(""));
  std::vector<Money> days = result.history.parts.front().days;
  for (std::size_t i = 1; i < result.history.parts.size(); ++i) {
    for (std::size_t t = 0; t < days.size(); ++t) days[t] += result.history.parts[i].days[t];
  }
  hide_unheld(score_of(of_whole, "", days), result.forecasts.whole);
  return {};
}

}  // namespace

Result<ForecastResult> query_forecast(const ForecastQuery& params, const Policy& policy,
                                      const SummarySource& summarise) {
  if (params.days < 1 || params.days > kForecastDaysMax) {
    return fail(ErrorCode::kBadValue,
                fmt::format("a forecast is for 1 to {} days", kForecastDaysMax));
  }
  ForecastResult result;
  result.history = TRY(query_daily_costs(params.costs, policy, summarise));
  std::vector<SummaryFilter> scope = params.asker_scope;
  for (const std::string& text : params.costs.filters) {
    const auto more = TRY(parse_filter(text, policy));
    scope.insert(scope.end(), more.begin(), more.end());
  }
  EventChoice choice =
      choose_events(params.events, params.costs.by, scope, params.days, result.history);
  result.forecasts = TRY(forecasting::forecast_costs({.first_day = result.history.first_day,
                                                      .parts = result.history.parts,
                                                      .missing = result.history.missing,
                                                      .horizon = params.days,
                                                      .events = std::move(choice.events)}));
  std::ranges::move(choice.notes, std::back_inserter(result.forecasts.notes));
  for (const std::string& key : choice.new_keys) {
    describe_new_part(*std::ranges::find(result.forecasts.parts, key, &CostForecast::key));
  }
  TRY(judge_by_kept(params, result));
  return result;
}

Result<Table> forecast_table(const ForecastResult& result, const ForecastQuery& params) {
  Table table;
  if (params.step == "none") {
    table = sum_table(result, params);
  } else if (params.step == "day") {
    table = day_table(result, params);
  } else if (params.step == "month") {
    table = month_table(result, params);
  } else {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a step; use none, day or month", params.step));
  }
  const Date first = result.forecasts.first_day;
  const bool is_time = params.costs.cost == "gpu_hours";
  table.title = fmt::format("Forecast of {} by {}, {} to {}, from {} to {} of history",
                            is_time ? "GPU-hours" : params.costs.cost + " cost", key_title(params),
                            to_text(first), to_text(first + std::chrono::days(params.days - 1)),
                            to_text(result.history.first_day), to_text(result.history.last_day()));
  if (!is_time) table.currency = result.history.parts.front().days.front().currency();
  add_notes(result, table);
  return table;
}

Table forecast_explanation(const ForecastResult& result, const ForecastQuery& params) {
  Table table;
  table.title = "Methods tried on earlier days, the best first";
  table.columns = {{key_title(params), key_title(params)},
                   {"method", "method"},
                   {"mase", "MASE"},
                   {"is_used", "used"},
                   {"held_50", "50 % range held, %"},
                   {"held_80", "80 % range held, %"},
                   {"held_95", "95 % range held, %"}};
  const auto add = [&](const CostForecast& forecast, const std::string& key) {
    for (const auto& score : forecast.basis.scores) {
      const bool is_used = score.method == forecast.basis.method;
      Row row{key, std::string(forecasting::method_name(score.method)),
              forecasting::mase_text(score.mase), std::string(is_used ? "yes" : "")};
      for (const auto& check : forecast.basis.checks) {
        row.emplace_back(!is_used || forecast.basis.errors.empty()
                             ? std::string()
                             : forecasting::percent_text(check.measured) +
                                   (check.is_shown ? "" : " (not shown)"));
      }
      table.rows.push_back(std::move(row));
    }
  };
  if (result.forecasts.parts.size() > 1) add(result.forecasts.whole, "(total)");
  for (const CostForecast& part : result.forecasts.parts) add(part, part.key);
  table.notes.emplace_back(
      "MASE below 1: nearer than the last week repeated was inside the history");
  return table;
}

Table kept_forecast_table(const ForecastResult& result, const ForecastQuery& params) {
  Table table;
  table.title = "How near the forecasts came that were kept";
  table.columns = {
      {key_title(params), key_title(params)}, {"forecasts", "forecasts", ColumnKind::kCount},
      {"days", "days", ColumnKind::kCount},   {"error_percent", "error (WAPE), %"},
      {"inside_80", "inside 80 %, %"},        {"inside_95", "inside 95 %, %"}};
  const auto tenths = [](int permille) {
    return fmt::format("{}.{}", permille / 10, permille % 10);
  };
  const auto share = [&](int part, int whole) {
    return whole == 0 ? std::string("-") : tenths(part * 1000 / whole);
  };
  for (std::size_t i = 0; i < result.kept.size(); ++i) {
    const forecasting::KeptScore& score = result.kept[i];
    if (score.forecasts == 0) continue;
    const std::string error =
        score.error_permille ? tenths(*score.error_permille) : std::string("-");
    table.rows.push_back(
        {result.forecasts.parts[i].key, static_cast<std::uint64_t>(score.forecasts),
         static_cast<std::uint64_t>(score.days), error, share(score.inside_80, score.days_with_80),
         share(score.inside_95, score.days_with_95)});
  }
  if (table.rows.empty()) {
    table.notes.emplace_back(
        "no forecast that was kept has come due; serve keeps those of each complete day");
  } else {
    table.notes.emplace_back("WAPE: the errors of all days, by what these days cost");
  }
  return table;
}

}  // namespace pennyweight
