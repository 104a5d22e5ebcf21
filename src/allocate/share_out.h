// share_out: what each of several claims gets of a capacity that changes over time.
//
// At each instant a claim gets what it asks for; where claims ask for more than there is, what
// there is is divided among them in proportion (largest remainder), so that no more is given than
// there is. What nobody asked for is the residual. All in whole units times milliseconds: exact,
// and the same in any order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/instant.h"
#include "core/split.h"

namespace pennyweight {

// A quantity over time: `units` from `at` until the next step. The first step stands at the begin
// of the interval in question, and instants ascend.
struct Step {
  Instant at;
  std::uint64_t units;
  bool operator==(const Step&) const = default;
};
using Steps = std::vector<Step>;

struct Claim {
  Interval during;  // within the interval in question
  std::uint64_t units;
};

struct SharedOut {
  std::vector<UInt128> given;  // unit-milliseconds of each claim
  Steps residual;
};

// REQUIRES: capacity covers `interval`; claims lie within it.
// ENSURES:  sum(given) + integral(residual) == integral(capacity).
SharedOut share_out(const Interval& interval, const Steps& capacity, std::span<const Claim> claims);

// Unit-milliseconds of a quantity over the interval that it covers.
UInt128 integral(const Interval& interval, const Steps& steps);

// The sum of several quantities over one interval, less that of others. REQUIRES: never below 0.
Steps sum_of(std::span<const Steps* const> quantities, std::span<const Steps* const> less = {});

// A constant quantity while something is there, zero before and after.
// REQUIRES: `present` lies within the interval.
Steps while_present(const Interval& interval, const Interval& present, std::uint64_t units);

// The quantity while something else holds: zero outside of `during`, which ascend and don't
// overlap.
Steps within(const Interval& interval, const Steps& steps, std::span<const Interval> during);

// When a quantity is zero; ascending.
std::vector<Interval> zero_times(const Interval& interval, const Steps& steps);

// Intervals that may overlap, cut to `interval`, as ascending ones that don't.
std::vector<Interval> union_of(const Interval& interval, std::span<const Interval> any);

}  // namespace pennyweight
