// Pseudo-random numbers that are the same on every machine.
//
// The standard library's distributions may differ between vendors, so this is SplitMix64 (Steele,
// Lea and Flood, 2014) with a multiplication for ranges. Each generator is created for a seed and
// the key of one thing, so that the numbers of one thing depend neither on which other things there
// are nor on their order.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "core/hash.h"
#include "core/int128.h"

namespace pennyweight {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}
  Random(std::uint64_t seed, std::string_view key)
      : Random(hash_of(key).low ^ Random(seed).next()) {}

  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
  }

  // From `low` to `high`, both included; uniform to one part in 2^64 / (high - low).
  // REQUIRES: low <= high.
  constexpr std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    CHECK(low <= high, "an empty range has no numbers");
    const UInt128 width = UInt128{high} - low + 1;
    return low + static_cast<std::uint64_t>((UInt128{next()} * width) >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace pennyweight
