// Clock: what time it is. Everything that needs "now" takes a Clock&, so that tests can set it;
// only app reads the real one.
#pragma once

#include "core/instant.h"

namespace pennyweight {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() = 0;
};

// A clock that stands still until advance(); for tests and generated data.
class SimulatedClock : public Clock {
 public:
  explicit SimulatedClock(Instant start) : now_(start) {}
  Instant now() override { return now_; }
  void advance(std::chrono::milliseconds by) { now_ += by; }

 private:
  Instant now_;
};

}  // namespace pennyweight
