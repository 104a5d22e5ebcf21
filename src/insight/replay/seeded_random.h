// SeededRandom: the same numbers for the same seed on every machine.
//
// The standard's engines are specified to the bit, its distributions are not; below() therefore
// reduces by itself.
#pragma once

#include <cstdint>
#include <random>

#include "core/int128.h"

namespace pennyweight::replay {

class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
  // A number in [0, limit). REQUIRES: limit > 0. Its bias is below limit / 2^64.
  std::uint64_t below(std::uint64_t limit) {
    return static_cast<std::uint64_t>((static_cast<UInt128>(engine_()) * limit) >> 64);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace pennyweight::replay
