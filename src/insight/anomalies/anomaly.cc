#include "insight/anomalies/anomaly.h"

#include <algorithm>

#include "core/check.h"
#include "core/split.h"

namespace pennyweight {
namespace {

constexpr std::size_t kWeek = 7;
constexpr std::size_t kGapMax = 7;  // calm days inside one incident
// Of the series, so that a few weekdays alike by chance don't make an ordinary day stand out.
constexpr std::size_t kPooledDays = 56;
// The deviation of few days is itself uncertain, so it counts for a quarter more.
constexpr Int128 kPooledPercent = 125;
constexpr Int128 kMillion = 1'000'000;
// Before so many days are known, what is ordinary is not.
constexpr std::size_t kLearnedDays = 21;

Int128 size_of(Int128 value) { return value < 0 ? -value : value; }

// The lower of the two means of the middle: exact to a tick, and rounded down.
Int128 median_ticks(std::vector<Int128> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  if (n % 2 == 1) return values[n / 2];
  const Int128 below = values[n / 2 - 1];
  return below + (values[n / 2] - below) / 2;
}

Int128 scaled(Int128 value, UInt128 factor, UInt128 divisor) {
  const UInt128 half = divisor / 2;
  const auto product = multiply_divide(static_cast<UInt128>(size_of(value)), factor, divisor);
  const Int128 rounded = static_cast<Int128>(product.quotient + (product.remainder > half ? 1 : 0));
  return value < 0 ? -rounded : rounded;
}

// In millionths, since dear days vary more than cheap ones.
Int128 relative_distance(Int128 distance, Money expected) {
  if (expected.is_zero()) return distance == 0 ? 0 : kMillion;
  const auto millionths = multiply_divide(static_cast<UInt128>(size_of(distance)), kMillion,
                                          static_cast<UInt128>(size_of(expected.ticks())));
  constexpr UInt128 kMost = 1'000'000'000;
  return static_cast<Int128>(std::min(millionths.quotient, kMost));
}

std::int64_t score_of(Int128 distance, Int128 deviation) {
  if (distance == 0) return 0;
  if (deviation == 0) return distance < 0 ? -kScoreBound : kScoreBound;
  // 674.5 x distance / deviation, in units that fit.
  const UInt128 quotient = multiply_divide(static_cast<UInt128>(size_of(distance)), 6745,
                                           static_cast<UInt128>(deviation))
                               .quotient;
  if (quotient > static_cast<UInt128>(kScoreBound))
    return distance < 0 ? -kScoreBound : kScoreBound;
  const auto score = static_cast<std::int64_t>((quotient + 5) / 10);
  return distance < 0 ? -score : score;
}

// What the time after would have cost before; nothing of a value without time before or after.
std::optional<Money> cost_at_old_price(const CostAndTime& part) {
  if (part.time_before.count() == 0 || part.time_after.count() == 0) return std::nullopt;
  return Money::from_ticks(
      scaled(part.cost_before.ticks(), part.time_after.count(), part.time_before.count()),
      part.cost_before.currency());
}

// The days of the same weekday that a day is compared with, none of them in an incident.
std::vector<Money> comparable_days(std::span<const Money> days, const std::vector<bool>& left_out,
                                   std::size_t at, int weeks) {
  std::vector<Money> history;
  // Twice as far back, so that an incident of some weeks leaves enough to compare with.
  for (std::size_t week = 1; week <= 2 * static_cast<std::size_t>(weeks); ++week) {
    if (week * kWeek > at || history.size() == static_cast<std::size_t>(weeks)) break;
    const std::size_t t = at - week * kWeek;
    if (!left_out[t]) history.push_back(days[t]);
  }
  return history;
}

}  // namespace

Money Incident::impact_per_day() const {
  return split(impact(), std::vector<Weight>(last - first + 1, 1)).front();
}

Deviation measure_deviation(std::span<const Money> history, Money value) {
  CHECK(!history.empty(), "a day is compared with other days");
  const Currency currency = value.currency();
  std::vector<Int128> ticks;
  for (const Money& day : history) ticks.push_back(day.ticks());
  const Int128 middle = median_ticks(ticks);
  for (Int128& day : ticks) day = size_of(day - middle);
  const Int128 deviation = std::max(median_ticks(std::move(ticks)), size_of(middle) / 100);
  return {Money::from_ticks(middle, currency), Money::from_ticks(deviation, currency),
          score_of(value.ticks() - middle, deviation)};
}

std::vector<Incident> find_incidents(std::span<const Money> days, const std::vector<bool>& missing,
                                     const AnomalyRules& rules) {
  std::vector<Incident> incidents;
  std::vector<bool> left_out(days.size(), false);
  for (std::size_t t = 0; t < days.size() && t < missing.size(); ++t) left_out[t] = missing[t];
  std::vector<Int128> distances;  // of ordinary days from what was expected, in millionths of it
  std::size_t run = 0;            // days in the incident that goes on
  for (std::size_t t = 0; t < days.size(); ++t) {
    if (t < missing.size() && missing[t]) continue;
    const auto history = comparable_days(days, left_out, t, rules.weeks);
    if (history.size() < static_cast<std::size_t>(rules.weeks_min)) continue;
    const Deviation own = measure_deviation(history, days[t]);
    const Int128 distance = days[t].ticks() - own.expected.ticks();
    Int128 deviation = own.deviation.ticks();
    if (distances.size() < kLearnedDays) {
      distances.push_back(relative_distance(distance, own.expected));
      continue;
    }
    const std::size_t from = distances.size() > kPooledDays ? distances.size() - kPooledDays : 0;
    const Int128 pooled =
        median_ticks({distances.begin() + static_cast<std::ptrdiff_t>(from), distances.end()});
    deviation =
        std::max(deviation, scaled(size_of(own.expected.ticks()),
                                   static_cast<UInt128>(pooled * kPooledPercent), 100 * kMillion));
    const std::int64_t score = score_of(distance, deviation);
    const Int128 least = std::max(
        scaled(size_of(own.expected.ticks()), static_cast<UInt128>(rules.impact_percent), 100),
        rules.impact_min ? rules.impact_min->ticks() : Int128{0});
    const bool is_unusual =
        size_of(Int128{score}) > rules.score_milli && size_of(distance) >= least && distance != 0;
    if (!is_unusual) {
      distances.push_back(relative_distance(distance, own.expected));
      continue;
    }
    // What lasts for weeks is the new level, and is compared with from then on.
    const bool goes_on = !incidents.empty() && t - incidents.back().last <= kGapMax + 1 &&
                         (incidents.back().score_milli < 0) == (score < 0);
    run = goes_on ? run + 1 : 1;
    left_out[t] = run <= kWeek;
    if (!goes_on) {
      incidents.push_back({.first = t,
                           .last = t,
                           .actual = days[t],
                           .expected = own.expected,
                           .score_milli = score});
      continue;
    }
    Incident& last = incidents.back();
    last.last = t;
    last.actual += days[t];
    last.expected += own.expected;
    if (size_of(Int128{score}) > size_of(Int128{last.score_milli})) last.score_milli = score;
  }
  if (!incidents.empty()) incidents.back().is_open = incidents.back().last + 1 == days.size();
  return incidents;
}

DifferenceSplit split_difference(std::span<const CostAndTime> parts) {
  CHECK(!parts.empty(), "a difference is that of something");
  const Money zero = Money::zero(parts.front().cost_before.currency());
  DifferenceSplit split{zero, zero, zero, zero};
  Money cost_before = zero;
  GpuTime time_before;
  GpuTime time_after;
  Money at_old_cost = zero;  // the time after, at each value's own old cost
  for (const CostAndTime& part : parts) {
    const auto moved = cost_at_old_price(part);
    if (!moved) {
      split.rest += part.cost_after - part.cost_before;
      continue;
    }
    split.price += part.cost_after - *moved;
    at_old_cost += *moved;
    cost_before += part.cost_before;
    time_before += part.time_before;
    time_after += part.time_after;
  }
  if (time_before.count() != 0) {
    const Money at_average = Money::from_ticks(
        scaled(cost_before.ticks(), time_after.count(), time_before.count()), zero.currency());
    split.volume = at_average - cost_before;
    split.mix = at_old_cost - at_average;
  }
  return split;
}

std::vector<Contribution> contributions(std::span<const CostAndTime> parts) {
  std::vector<Contribution> out;
  Int128 whole = 0;
  for (const CostAndTime& part : parts) {
    out.push_back({part.key, part.cost_after - part.cost_before});
    whole += out.back().difference.ticks();
  }
  const Int128 sign = whole < 0 ? -1 : 1;
  UInt128 towards = 0;
  for (const Contribution& one : out) {
    if (one.difference.ticks() * sign > 0)
      towards += static_cast<UInt128>(size_of(one.difference.ticks()));
  }
  for (Contribution& one : out) {
    if (towards == 0) continue;
    one.permille = static_cast<int>(scaled(one.difference.ticks() * sign, 1000, towards));
  }
  std::ranges::stable_sort(out, [sign](const Contribution& a, const Contribution& b) {
    return a.difference.ticks() * sign > b.difference.ticks() * sign;
  });
  return out;
}

const CostAndTime* find_price_cause(std::span<const CostAndTime> parts) {
  Int128 whole = 0;
  for (const CostAndTime& part : parts) whole += part.cost_after.ticks() - part.cost_before.ticks();
  if (whole == 0) return nullptr;
  const Int128 sign = whole < 0 ? -1 : 1;
  const CostAndTime* cause = nullptr;
  Int128 largest = 0;
  for (const CostAndTime& part : parts) {
    const auto moved = cost_at_old_price(part);
    if (!moved) continue;
    const Int128 effect = (part.cost_after.ticks() - moved->ticks()) * sign;
    if (effect <= largest || effect * 2 < whole * sign) continue;
    largest = effect;
    cause = &part;
  }
  return cause;
}

}  // namespace pennyweight
