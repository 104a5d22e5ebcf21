// The wall clock: the one place where "now" comes from.
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
