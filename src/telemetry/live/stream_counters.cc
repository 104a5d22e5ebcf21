#include "telemetry/live/stream_counters.h"

namespace pennyweight::live {

std::string_view to_text(StreamCounter count) {
  switch (count) {
    case StreamCounter::kSamples:
      return "samples";
    case StreamCounter::kDuplicates:
      return "duplicates";
    case StreamCounter::kOtherSource:
      return "other_source";
    case StreamCounter::kStale:
      return "stale_markers";
    case StreamCounter::kBlank:
      return "blank_values";
    case StreamCounter::kClamped:
      return "clamped_shares";
    case StreamCounter::kOutOfRange:
      return "out_of_range";
    case StreamCounter::kResets:
      return "counter_resets";
    case StreamCounter::kCounterGaps:
      return "counter_gaps";
    case StreamCounter::kTooOld:
      return "too_old";
    case StreamCounter::kInFuture:
      return "in_future";
    case StreamCounter::kIgnored:
      return "ignored";
    case StreamCounter::kUnusable:
      return "unusable";
    case StreamCounter::kState:
      return "state_samples";
    case StreamCounter::kSeriesOverLimit:
      return "series_over_limit";
    case StreamCounter::kBadLabels:
      return "bad_labels";
    case StreamCounter::kLateComponents:
      return "late_components";
    case StreamCounter::kSeriesForgotten:
      return "series_forgotten";
    case StreamCounter::kOutOfOrder:
      return "out_of_order";
    case StreamCounter::kCount:
      break;
  }
  return "";
}

}  // namespace pennyweight::live
