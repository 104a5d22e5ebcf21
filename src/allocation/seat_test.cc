// share_seat(): for any holders and telemetry it agrees with trace_seat_intervals(), to the unit.
#include "allocation/seat.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "allocation/seat_intervals.h"

namespace pennyweight {
namespace {

const Instant kSeatBegin = *parse_instant("2026-03-01");
constexpr std::uint64_t kWholeCard = CardShare::kUnitsPerCard;

Instant at_ms(std::uint64_t ms) { return kSeatBegin + std::chrono::milliseconds(ms); }

// A seat with holders that come, go and overlap, and telemetry with gaps.
struct AnySeat {
  std::vector<UtilizationSeries> series;
  std::vector<SeatClaim> claims;
  SeatInput input{
      .during = Interval(kSeatBegin, at_ms(kLength)), .claims = {}, .telemetry_begin = kSeatBegin};
  static constexpr std::uint64_t kLength = 100'000;

  explicit AnySeat(std::uint64_t seed) : random(seed) {
    const std::uint64_t count = below(5);
    for (std::uint64_t i = 0; i <= count; ++i) series.push_back(any_series());
    input.capacity = below(2) == 0 ? GpuUnits{kWholeCard, kWholeCard}
                                   : GpuUnits{kWholeCard / 7 * 3, kWholeCard / 2};
    for (std::uint64_t i = 0; i < count; ++i) claims.push_back(any_claim(i));
    input.claims = claims;
    if (below(3) > 0) input.device = &series.back();
    input.with_steps = below(2) == 0;
  }
  AnySeat(const AnySeat&) = delete;
  AnySeat& operator=(const AnySeat&) = delete;

  std::uint64_t below(std::uint64_t bound) { return random() % bound; }

  UtilizationSeries any_series() {
    UtilizationSeries made{.device = GpuId("GPU-0"), .workload = WorkloadId(""), .intervals = {}};
    const std::uint32_t every = static_cast<std::uint32_t>(1 + below(30'000));
    for (std::uint32_t at = static_cast<std::uint32_t>(below(every)); at + every < kLength;
         at += every) {
      if (below(4) == 0) continue;  // a gap
      const auto value = [&] {
        return below(6) == 0 ? UtilizationInterval::kUnknown
                             : static_cast<std::uint32_t>(below(kWholeCard + 1));
      };
      made.intervals.push_back({at, at + every, value(), value()});
    }
    return made;
  }

  SeatClaim any_claim(std::uint64_t index) {
    const std::uint64_t begin = below(kLength - 1);
    const std::uint64_t end = begin + 1 + below(kLength - begin);
    SeatClaim claim{.during = Interval(at_ms(begin), at_ms(end)), .basis = {}};
    if (below(3) == 0) claim.during = input.during;
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      claim.requested[axis] = below(input.capacity[axis] + 1);
    }
    claim.basis = {.kind = static_cast<Basis::Kind>(below(4)),
                   .request_permille = static_cast<std::uint32_t>(below(1001))};
    if (below(3) > 0) claim.own = &series[index];
    return claim;
  }

  std::mt19937_64 random;
};

RC_GTEST_PROP(Seat, IsWhatItsMomentsAre, (std::uint64_t seed)) {
  const AnySeat seat(seed);
  const SeatOccupancy shared = share_seat(seat.input);
  for (std::size_t i = 0; i < seat.claims.size(); ++i) {
    UInt128 given[kGpuAxes] = {0, 0}, used[kGpuAxes] = {0, 0};
    Instant covered_until = seat.claims[i].during.begin();
    for (const SeatInterval& at_moment : trace_seat_intervals(seat.input, i)) {
      RC_ASSERT(at_moment.during.begin() == covered_until);
      covered_until = at_moment.during.end();
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        given[axis] += at_moment.axes[axis].given;
        used[axis] += at_moment.axes[axis].used;
      }
    }
    RC_ASSERT(covered_until == seat.claims[i].during.end());
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      RC_ASSERT(given[axis] == shared.shares[i].given[axis]);
      RC_ASSERT(used[axis] == shared.shares[i].used[axis]);
    }
  }
}

RC_GTEST_PROP(Seat, GivesNoMoreThanThereIsAndTellsTheRest, (std::uint64_t seed)) {
  const AnySeat seat(seed);
  const SeatOccupancy shared = share_seat(seat.input);
  for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
    std::uint64_t given = 0;
    for (const SeatShare& share : shared.shares) {
      given += share.given[axis];
      RC_ASSERT(share.used[axis] <= share.given[axis]);
    }
    RC_ASSERT(given + shared.residual[axis] == seat.input.capacity[axis] * AnySeat::kLength);
    RC_ASSERT(shared.unbilled[axis] <= shared.residual[axis]);
    if (seat.input.with_steps) {
      RC_ASSERT(integral(seat.input.during, shared.left[axis]) == shared.residual[axis]);
    }
  }
}

}  // namespace
}  // namespace pennyweight
