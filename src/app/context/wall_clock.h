// The wall clock: the only source of the current time.
#pragma once

#include "core/clock.h"

namespace pennyweight {

class WallClock : public Clock {
 public:
  Instant now() override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
};

}  // namespace pennyweight
