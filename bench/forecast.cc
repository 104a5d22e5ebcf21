// How good the forecasts are: on series of real GPU demand and on simulated fleets, each forecast
// from earlier days only (rolling origin) and compared with what came.
//
//   bench_forecast --series FILE    lines of name,hour|day,value,value… (bench/forecast_series.py)
//   bench_forecast --simulated N    N simulated series of days, with a seed
//   bench_forecast --speed N        N series of 400 days, 90 days ahead, on two threads
#include "insight/forecast/forecast.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/check.h"
#include "insight/forecast/baselines.h"
#include "insight/forecast/metrics.h"

namespace {

using namespace pennyweight;
using namespace pennyweight::forecasting;

struct Series {
  std::string group;
  bool is_hourly = false;
  std::vector<double> values;
};

struct Score {
  double mase = 0;
  double naive_mase = 0;
  int series = 0;
  int better = 0;
  double steps = 0;
  double shown = 0;
  double inside80 = 0;
  double shown95 = 0;
  double inside95 = 0;
};

std::vector<Series> read_series(const std::string& path) {
  std::vector<Series> all;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    Series one;
    std::string name;
    std::string step;
    std::string cell;
    std::getline(cells, name, ',');
    std::getline(cells, step, ',');
    one.is_hourly = step == "hour";
    one.group = name.substr(0, name.find('/')) + (one.is_hourly ? ", hours" : ", days");
    while (std::getline(cells, cell, ',')) one.values.push_back(std::stod(cell));
    all.push_back(std::move(one));
  }
  return all;
}

// A fleet's days: a level that wanders or grows, weekdays, noise, at times a lasting change.
Series simulate(std::uint64_t seed, std::size_t days) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Series out{"simulated fleets, days", false, {}};
  double level = 100 + 900 * uniform(random);
  const double weekend = 0.3 + 0.7 * uniform(random);
  const double noise = 0.03 + 0.15 * uniform(random);
  const double wander = 0.002 + 0.02 * uniform(random);
  const double growth = 0.001 * normal(random);
  const bool is_intermittent = uniform(random) < 0.1;
  const std::size_t shift =
      uniform(random) < 0.2 ? static_cast<std::size_t>(uniform(random) * static_cast<double>(days))
                            : days;
  double remainder = 0;
  for (std::size_t t = 0; t < days; ++t) {
    if (t == shift) level *= uniform(random) < 0.5 ? 1.6 : 0.6;
    level *= std::exp(growth + wander * normal(random));
    remainder = 0.6 * remainder + noise * normal(random);
    const double season = t % 7 >= 5 ? weekend : 1;
    double value = level * season * std::max(0.0, 1 + remainder);
    if (is_intermittent && uniform(random) < 0.7) value = 0;
    out.values.push_back(value);
  }
  return out;
}

void add(Score& sum, const Score& one) {
  sum.mase += one.mase;
  sum.naive_mase += one.naive_mase;
  sum.series += one.series;
  sum.better += one.better;
  sum.steps += one.steps;
  sum.shown += one.shown;
  sum.inside80 += one.inside80;
  sum.shown95 += one.shown95;
  sum.inside95 += one.inside95;
}

void evaluate(const Series& series, std::map<std::string, Score>& scores) {
  const std::vector<int> seasons = series.is_hourly ? std::vector{24, 168} : std::vector{7};
  const int horizon = series.is_hourly ? 24 : 7;
  const auto ahead = static_cast<std::size_t>(horizon);
  const std::size_t n = series.values.size();
  if (n < 28) return;  // too short to compare anything
  // A week at least is known, two where there are days enough.
  const std::size_t first = series.is_hourly ? 168 : 14;
  const int naive_season = series.is_hourly ? (n >= 2 * 168 ? 168 : 24) : 7;
  double error = 0;
  double naive_error = 0;
  double naive24_error = 0;
  double count = 0;
  Score& score = scores[series.group];
  const std::size_t stride = std::max<std::size_t>(1, (n - first) / 25);
  for (std::size_t origin = first; origin + ahead <= n; origin += stride) {
    const auto past = std::span(series.values).first(origin);
    const auto actual = std::span(series.values).subspan(origin, ahead);
    const auto made =
        forecast_series({.values = past, .seasons = seasons, .horizon = horizon}).value();
    const auto naive = seasonal_naive(past, naive_season, horizon);
    const auto naive24 = seasonal_naive(past, series.is_hourly ? 24 : 7, horizon);
    error += mean_absolute_error(actual, made.path);
    naive_error += mean_absolute_error(actual, naive);
    naive24_error += mean_absolute_error(actual, naive24);
    ++count;
    for (std::size_t h = 0; h < ahead; ++h) {
      ++score.steps;
      if (const auto range = made.range(h, 80)) {
        ++score.shown;
        if (range->low <= actual[h] && actual[h] <= range->high) ++score.inside80;
      }
      if (const auto range = made.range(h, 95)) {
        ++score.shown95;
        if (range->low <= actual[h] && actual[h] <= range->high) ++score.inside95;
      }
    }
  }
  const auto scale = seasonal_scale(series.values, series.is_hourly ? 24 : 7);
  if (count == 0 || !scale || naive_error == 0 || naive24_error == 0) return;
  // The harder of the two baselines.
  const double baseline = std::min(naive_error, naive24_error);
  ++score.series;
  score.mase += error / count / *scale;
  score.naive_mase += baseline / count / *scale;
  if (error < baseline) ++score.better;
}

void print_scores(const std::map<std::string, Score>& scores) {
  std::cout
      << "| series | number | MASE | seasonal naive | better | 80 % range holds | 95 % range holds "
         "| 80 % shown | 95 % shown |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [group, s] : scores) {
    const double n = std::max(s.series, 1);
    std::cout << fmt::format(
        "| {} | {} | {:.3f} | {:.3f} | {:.0f} % | {:.1f} % | {:.1f} % | {:.0f} % | {:.0f} % |\n",
        group, s.series, s.mase / n, s.naive_mase / n, 100.0 * s.better / n,
        100 * s.inside80 / std::max(s.shown, 1.0), 100 * s.inside95 / std::max(s.shown95, 1.0),
        100 * s.shown / std::max(s.steps, 1.0), 100 * s.shown95 / std::max(s.steps, 1.0));
  }
}

void measure_speed(std::size_t count) {
  std::vector<Series> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(simulate(i, 400));
  const auto begin = std::chrono::steady_clock::now();
  double sums[2] = {0, 0};
  const auto work = [&](std::size_t part) {
    for (std::size_t i = part; i < count; i += 2) {
      const auto made = forecast_series({.values = all[i].values, .seasons = {7}, .horizon = 90});
      sums[part] += made.value().path.back();
    }
  };
  {
    std::jthread other(work, 1);
    work(0);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << fmt::format("{} series of 400 days, 90 days ahead, two threads: {:.2f} s\n", count,
                           took.count());
  CHECK(std::isfinite(sums[0] + sums[1]), "every forecast is a number");
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::map<std::string, Score> scores;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "--series") {
      for (const Series& series : read_series(words[i + 1])) evaluate(series, scores);
    } else if (words[i] == "--simulated") {
      const auto count = static_cast<std::size_t>(std::stoul(words[i + 1]));
      for (std::size_t seed = 1; seed <= count; ++seed) evaluate(simulate(seed, 180), scores);
    } else if (words[i] == "--speed") {
      measure_speed(static_cast<std::size_t>(std::stoul(words[i + 1])));
    } else {
      std::cerr << "usage: bench_forecast [--series FILE] [--simulated N] [--speed N]\n";
      return 2;
    }
  }
  Score all;
  for (const auto& [group, score] : scores) add(all, score);
  if (!scores.empty()) scores["together"] = all;
  if (!scores.empty()) print_scores(scores);
  return 0;
}
