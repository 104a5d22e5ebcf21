// Finds days that cost far more or less than their weekday does, and what explains the difference.
//
// Robust and exact: medians and median deviations of Money, in integers. Only complete days are
// looked at. Days that follow one another are one incident, not one alert each. Six weeks are
// needed before anything is said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/money.h"
#include "core/quantity.h"

namespace pennyweight {

// No score is larger: one of it says no more than that the history is too even for a measure.
inline constexpr std::int64_t kScoreBound = 1'000'000'000'000;

// What a day is compared with.
struct Deviation {
  Money expected;                // the median of the history
  Money deviation;               // the median distance from it; at least 1 % of the median
  std::int64_t score_milli = 0;  // 674.5 x (value - expected) / deviation, rounded: 3,500 is 3.5
};

// REQUIRES: `history` is not empty, all of one currency.
Deviation measure_deviation(std::span<const Money> history, Money value);

struct AnomalyRules {
  int weeks = 8;      // of the same weekday that a day is compared with
  int weeks_min = 3;  // with fewer, nothing is said
  std::int64_t score_milli = 3'500;
  int impact_percent = 10;               // of the expected cost of a day
  std::optional<Money> impact_min = {};  // an absolute floor
};

// Days in a row whose cost is far from what was expected, all in one direction.
struct Incident {
  std::size_t first = 0;  // index of the day
  std::size_t last = 0;
  Money actual;  // of its days together
  Money expected;
  Money impact() const { return actual - expected; }
  Money impact_per_day() const;  // the mean
  std::int64_t score_milli = 0;  // the largest of its days, with its sign
  bool is_open = false;          // it lasts until the last day of the series
};

// `days` are complete and of one currency. `missing` days are neither looked at nor compared with;
// empty: none is missing.
std::vector<Incident> find_incidents(std::span<const Money> days, const std::vector<bool>& missing,
                                     const AnomalyRules& rules);

// What a dimension value, such as a team or an instance type, cost and held on an incident's days
// and on the days that these are compared with.
struct CostAndTime {
  std::string key;
  Money cost_before;
  Money cost_after;
  GpuTime time_before = {};
  GpuTime time_after = {};
};

// price + volume + mix + rest == the whole difference, with ==.
struct DifferenceSplit {
  Money price;   // the same GPU time at another cost per hour
  Money volume;  // more or less GPU time, at the old average cost per hour
  Money mix;     // GPU time moved between values of different cost
  Money rest;    // of values without GPU time, before or after
  Money sum() const { return price + volume + mix + rest; }
};
// REQUIRES: not empty, one currency.
DifferenceSplit split_difference(std::span<const CostAndTime> parts);

struct Contribution {
  std::string key;
  Money difference;
  int permille = 0;  // of the sum of all differences in the direction of the whole
};
// By size, those in the direction of the whole difference first.
std::vector<Contribution> contributions(std::span<const CostAndTime> parts);

// The value whose price alone makes at least half of the whole difference: what its GPU time costs
// now above, or below, what as much time cost before. Null: no price does.
const CostAndTime* find_price_cause(std::span<const CostAndTime> parts);

}  // namespace pennyweight
