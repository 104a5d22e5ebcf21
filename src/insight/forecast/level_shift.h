// Finds the last lasting change of level, such as a cluster that doubled.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pennyweight::forecasting {

struct LevelShift {
  bool is_found = false;
  std::size_t at = 0;  // the first value of the new level
  double before = 0;   // the median of the season before, and of what came after
  double after = 0;
};

// A shift is found where both sides are calm and their medians lie far apart: 6 times the median
// deviation of either, and a fifth of the larger. A series that wanders has none.
LevelShift find_level_shift(std::span<const double> values, int season);
// The values before the shift, at the new level: scaled where both levels are above 0, else moved.
std::vector<double> without_shift(std::span<const double> values, const LevelShift& shift);

}  // namespace pennyweight::forecasting
