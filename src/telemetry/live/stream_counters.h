// Counts what became of the samples of all streams.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pennyweight::live {

// Its name is that of the counter in /metrics.
enum class StreamCounter : std::uint8_t {
  kSamples,          // taken
  kDuplicates,       // that were taken before
  kOtherSource,      // of a measurement that another source reports
  kStale,            // markers
  kBlank,            // no value
  kClamped,          // shares above the whole
  kOutOfRange,       // other values beyond what is documented
  kResets,           // of counters
  kCounterGaps,      // too long to say when it was
  kTooOld,           // older than a live series may be
  kInFuture,         // newer than the clock by more than kFutureMsMax
  kIgnored,          // samples of series that are not needed
  kUnusable,         // samples of series meant for us that say too little
  kState,            // samples of Kubernetes objects
  kSeriesOverLimit,  // samples of series beyond the limit
  kBadLabels,        // samples of series whose labels can't be decoded
  kLateComponents,   // pieces of a sum that was written already
  kSeriesForgotten,  // without samples for long
  kOutOfOrder,       // of a time that is in the ledger already: refused
  kCount,
};
inline constexpr std::size_t kStreamCounters = static_cast<std::size_t>(StreamCounter::kCount);
std::string_view to_text(StreamCounter count);
using StreamCounts = std::array<std::uint64_t, kStreamCounters>;

}  // namespace pennyweight::live
