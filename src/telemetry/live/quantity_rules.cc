#include "telemetry/live/quantity_rules.h"

namespace pennyweight::live {

using telemetry::Quantity;

Aggregation aggregation_for(Quantity quantity) {
  switch (quantity) {
    case Quantity::kEnergy:
    case Quantity::kSmCyclesElapsed:
    case Quantity::kSmCyclesActive:
      return Aggregation::kCounter;
    case Quantity::kEccErrors:
      return Aggregation::kTotal;
    case Quantity::kXid:
      return Aggregation::kChange;
    case Quantity::kXidCount:
      return Aggregation::kGrowth;
    case Quantity::kGpuUtil:
    case Quantity::kEngineActive:
    case Quantity::kSmActive:
    case Quantity::kTensorActive:
    case Quantity::kDramActive:
    case Quantity::kMemoryUsed:
    case Quantity::kMemoryFree:
    case Quantity::kMemoryReserved:
    case Quantity::kMemoryTotal:
    case Quantity::kPower:
    case Quantity::kTemperature:
    case Quantity::kSmClock:
    case Quantity::kThrottle:
    case Quantity::kPcie:
    case Quantity::kNvlink:
      break;
  }
  return Aggregation::kMean;
}

}  // namespace pennyweight::live
