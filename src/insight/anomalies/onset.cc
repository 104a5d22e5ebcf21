#include "insight/anomalies/onset.h"

#include <algorithm>
#include <vector>

#include "core/check.h"
#include "core/int128.h"

namespace pennyweight {
namespace {

// Products of hours and of sums of hours have to fit in 128 bits.
constexpr Int128 kHourBound = Int128{1'000'000'000'000'000} * 1'000'000'000'000'000;
constexpr std::size_t kHoursMax = 100;
// Before the hour, a quarter of what they differ by after it is still calm.
constexpr Int128 kCalmPart = 4;

Int128 size_of_sum(Int128 value) { return value < 0 ? -value : value; }

}  // namespace

std::optional<std::size_t> find_onset(std::span<const Money> actual, std::span<const Money> usual,
                                      bool is_higher) {
  CHECK(actual.size() == usual.size(), "hours are compared with hours");
  const std::size_t n = actual.size();
  if (n < 2 || n > kHoursMax) return std::nullopt;
  std::vector<Int128> differences;
  Int128 sum = 0;
  for (std::size_t hour = 0; hour < n; ++hour) {
    const Int128 difference = actual[hour].ticks() - usual[hour].ticks();
    if (size_of_sum(difference) > kHourBound) return std::nullopt;
    differences.push_back(is_higher ? difference : -difference);
    sum += differences.back();
  }
  // The sum of the first hours lies the farthest below its even share where the change begins.
  std::size_t at = 0;
  Int128 before = 0;
  Int128 lowest = 0;
  Int128 first_hours = 0;
  for (std::size_t hour = 1; hour < n; ++hour) {
    first_hours += differences[hour - 1];
    const Int128 distance = first_hours * static_cast<Int128>(n) - sum * static_cast<Int128>(hour);
    if (distance >= lowest) continue;
    lowest = distance;
    at = hour;
    before = first_hours;
  }
  if (at == 0) return std::nullopt;
  const Int128 after = sum - before;
  const auto hours_before = static_cast<Int128>(at);
  const auto hours_after = static_cast<Int128>(n - at);
  const bool is_calm_before = size_of_sum(before) * kCalmPart * hours_after <= after * hours_before;
  const bool is_sudden = 2 * differences[at] * hours_after >= after;
  if (after <= 0 || !is_calm_before || !is_sudden) return std::nullopt;
  return at;
}

}  // namespace pennyweight
