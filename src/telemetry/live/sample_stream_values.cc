// The value of a sample, checked and rounded to the unit of its quantity.
#include <algorithm>
#include <cmath>

#include "telemetry/live/quantity_rules.h"
#include "telemetry/live/sample_stream.h"

namespace pennyweight::live {
namespace {

constexpr double kExactMax = 9'007'199'254'740'992.0;  // 2^53: beyond it doubles skip integers
// Cycles summed over the SMs of a GPU pass 2^53 within ten hours. From then on an increase is as
// exact as the sender's doubles: to 2 cycles, to 4 …
constexpr double kCounterMax = 4'611'686'018'427'387'904.0;  // 2^62

// Clock event reasons that cost no speed, or are wanted: idle, a set application clock, sync boost,
// display clocks. Source: nvml.h, nvmlClocksEventReason*.
constexpr std::uint64_t kHarmlessReasons = 0x1 | 0x2 | 0x10 | 0x100;

}  // namespace

std::optional<std::uint64_t> SampleStream::quantised(const Scale& scale, double value) {
  // Few values are that large, and all blanks are.
  const bool may_be_blank = !(std::abs(value) < 2'147'483'632.0);
  if (may_be_blank &&
      (scale.is_outcome ? !std::isfinite(value) : telemetry::is_blank(scale.quantity, value))) {
    ++count(StreamCounter::kBlank);
    return std::nullopt;
  }
  if (value < scale.least) {
    ++count(StreamCounter::kOutOfRange);
    return std::nullopt;
  }
  if (scale.most > 0 && value > scale.most) {
    if (!scale.is_share || value > 1.5 * scale.most) {
      ++count(StreamCounter::kOutOfRange);
      return std::nullopt;
    }
    ++count(StreamCounter::kClamped);
    value = scale.most;
  }
  const double scaled = value * scale.scale;
  const bool counts = scale.is_outcome || is_counter(aggregation_for(scale.quantity));
  if (!(scaled >= 0 && scaled <= (counts ? kCounterMax : kExactMax))) {
    ++count(StreamCounter::kOutOfRange);
    return std::nullopt;
  }
  const auto whole = static_cast<std::uint64_t>(std::llround(scaled));
  if (!scale.is_outcome && scale.quantity == telemetry::Quantity::kThrottle) {
    return (whole & ~kHarmlessReasons) != 0 ? 1 : 0;
  }
  return whole;
}

}  // namespace pennyweight::live
