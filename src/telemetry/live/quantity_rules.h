// How the samples of each quantity are aggregated.
#pragma once

#include "telemetry/classification.h"
#include "telemetry/live/accumulator.h"

namespace pennyweight::live {

Aggregation aggregation_for(telemetry::Quantity quantity);

inline bool is_counter(Aggregation aggregation) {
  return aggregation == Aggregation::kCounter || aggregation == Aggregation::kTotal;
}

// A share of the device: ppm, at most the whole.
inline bool is_share(telemetry::Quantity quantity) {
  return quantity <= telemetry::Quantity::kDramActive;
}

}  // namespace pennyweight::live
