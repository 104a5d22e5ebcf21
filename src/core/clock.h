// The only door to the wall clock. Everything that needs "now" takes a Clock&.
#pragma once

#include "core/instant.h"

namespace pennyweight {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() = 0;
};

// Stands still until told otherwise; for tests and the simulator.
class SimulatedClock : public Clock {
 public:
  explicit SimulatedClock(Instant start) : now_(start) {}
  Instant now() override { return now_; }
  void advance(std::chrono::milliseconds by) { now_ += by; }

 private:
  Instant now_;
};

}  // namespace pennyweight
