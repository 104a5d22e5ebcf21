// card_energy(): the energy that one GPU took, each moment once.
//
// Exporters repeat the power and the energy of a card on the row of each of its MIG instances and
// of each pod on it. Here every moment of a card has one source, the best of
//   1. the energy of a span, which a collector of `serve` counted;
//   2. the difference of two readings of the card's energy counter, at most a day apart, evenly
//      over the time between them. A counter that went back was reset: nothing is known there;
//   3. the mean power of a span;
//   4. the power of a reading, until the next one of the card, as long as the policy lets a reading
//      hold.
// So whatever a card's instances are, and how many rows repeat its power, its energy is counted
// once. What no source covers is not known, and is not taken for nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/card_share.h"
#include "core/instant.h"
#include "core/int128.h"
#include "ledger/usage.h"

namespace pennyweight {

// Energy is counted in units of 1/kGpuHour of a kilowatt-hour, some 14 nanojoules, so that it is
// shown as GPU-hours are, every digit of it: 9,009 units are 125 microjoules.
inline constexpr UInt128 kEnergyUnits = 9009;
inline constexpr UInt128 kEnergyUnitMicrojoules = 125;
static_assert(kGpuHour.count() * kEnergyUnitMicrojoules == kEnergyUnits * 3'600'000'000'000u);

// A time in which one source says what was taken, evenly: [begin_ms, end_ms) of Unix time, cut out
// of the source's own [from_ms, to_ms).
struct EnergySegment {
  std::int64_t begin_ms = 0;
  std::int64_t end_ms = 0;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  UInt128 microjoules = 0;  // over [from_ms, to_ms)
  bool operator==(const EnergySegment&) const = default;

  // What was taken in [a, b), in energy units. Parts of a segment add up to it, wherever it is cut.
  // REQUIRES: from_ms <= a <= b <= to_ms.
  UInt128 taken(std::int64_t a, std::int64_t b) const { return until(b) - until(a); }

 private:
  UInt128 until(std::int64_t at) const {
    return multiply_divide(microjoules * kEnergyUnits, static_cast<UInt128>(at - from_ms),
                           static_cast<UInt128>(to_ms - from_ms) * kEnergyUnitMicrojoules)
        .quotient;
  }
};

// What the samples of a card say of its energy; of several days, if they are added one after the
// other. REQUIRES: all of one card.
class CardEnergy {
 public:
  // `rules` shifts and holds times as an allocation does; it must outlive this.
  explicit CardEnergy(const UsageRules& rules) : rules_(&rules) {}

  void add(const Usage& usage);
  // Forgets what ended before `at` and can't matter to what comes after it.
  void forget_before(Instant at);
  // Ascending, without overlaps. The samples may have been added in any order.
  std::vector<EnergySegment> segments() const;

 private:
  struct Reading {
    std::int64_t at_ms;
    std::uint64_t value;
    auto operator<=>(const Reading&) const = default;
  };

  const UsageRules* rules_;
  std::vector<EnergySegment> spans_;
  std::vector<EnergySegment> span_power_;
  std::vector<Reading> counters_;  // millijoules
  std::vector<Reading> power_;     // milliwatts
};

}  // namespace pennyweight
