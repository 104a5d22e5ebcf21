// divide_capacity(): divides a capacity that changes over time among several requests.
//
// At each instant a request gets what it requests. Where requests together request more than there
// is, the capacity is divided among them in proportion, by largest remainder. What nobody requests
// is the residual. All amounts are whole units times milliseconds: exact, and the same in any
// order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/check.h"
#include "core/instant.h"
#include "core/split.h"

namespace pennyweight {

// A quantity over time: `units` from `at` until the next step. The first step is at the begin of
// the interval, and instants ascend.
struct Step {
  Instant at;
  std::uint64_t units;
  bool operator==(const Step&) const = default;
};
using Steps = std::vector<Step>;

// Adds a step, unless the quantity stays the same.
void append_step(Steps& steps, Instant at, std::uint64_t units);

// Reads the level of steps at instants that don't go back.
class StepCursor {
 public:
  // REQUIRES: steps outlive it.
  explicit StepCursor(const Steps& steps) : steps_(&steps) {}
  // REQUIRES: at is not before the first step, nor before the last call's.
  std::uint64_t level_at(Instant at) {
    while (next_ < steps_->size() && (*steps_)[next_].at <= at) ++next_;
    CHECK(next_ > 0, "the steps begin with the segment");
    return (*steps_)[next_ - 1].units;
  }

 private:
  const Steps* steps_;
  std::size_t next_ = 0;
};

struct CapacityRequest {
  Interval during;  // within the divided interval
  std::uint64_t units;
};

// A time in which more was requested than there was, and what a request was given in it.
struct ScaledRequest {
  std::size_t request;
  Interval during;
  UInt128 amount;  // unit-milliseconds
};

struct CapacityDivision {
  std::vector<UInt128> given;  // unit-milliseconds of each request
  Steps residual;
  std::vector<ScaledRequest> scaled = {};  // by begin, then request
};

// REQUIRES: capacity covers `interval`; requests lie within it.
// ENSURES:  sum(given) + integral(residual) == integral(capacity).
CapacityDivision divide_capacity(const Interval& interval, const Steps& capacity,
                                 std::span<const CapacityRequest> requests);

// Unit-milliseconds of a quantity over its interval.
UInt128 integral(const Interval& interval, const Steps& steps);

// The sum of several quantities over one interval, minus that of others. REQUIRES: it is never
// below 0.
Steps sum_steps(std::span<const Steps* const> quantities, std::span<const Steps* const> less = {});

// A quantity that is `units` during `present`, and zero before and after. REQUIRES: `present` lies
// within the interval.
Steps while_present(const Interval& interval, const Interval& present, std::uint64_t units);

// The quantity, but zero outside of `during`, which ascend and do not overlap.
Steps restrict_to(const Interval& interval, const Steps& steps, std::span<const Interval> during);

// The times at which a quantity is zero, ascending.
std::vector<Interval> zero_times(const Interval& interval, const Steps& steps);

// The union of intervals that may overlap, cut to `interval`; ascending.
std::vector<Interval> union_of(const Interval& interval, std::span<const Interval> any);

}  // namespace pennyweight
