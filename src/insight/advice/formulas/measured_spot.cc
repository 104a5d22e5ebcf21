#include "insight/advice/formulas/measured_spot.h"

#include <cmath>

#include "insight/advice/formulas/checkpoints.h"

namespace pennyweight::advising {
namespace {

constexpr double kPpm = 1e6;
constexpr double kLargest = 1e15;

std::uint64_t rounded_up(double value) {
  if (!(value > 0)) return 0;
  return value < kLargest ? static_cast<std::uint64_t>(std::ceil(value - 1e-6))
                          : static_cast<std::uint64_t>(kLargest);
}

}  // namespace

MeasuredSpot judge_measured_spot(const MeasuredSpotWork& work) {
  const Interruptions interruptions{
      .mean_time_between =
          static_cast<double>(work.mean_time_between_ms) / static_cast<double>(work.nodes),
      .save = static_cast<double>(work.save_ms),
      .restart = static_cast<double>(work.restart_ms)};
  const SpotVerdict verdict =
      judge_spot({.is_checkpointable = true,
                  .work = static_cast<double>(work.length_ms),
                  .deadline_slack = static_cast<double>(work.slack_ms)},
                 {.on_demand_price = static_cast<double>(work.on_demand_micros),
                  .spot_price = static_cast<double>(work.spot_micros),
                  .availability = 1},
                 interruptions);
  return {.pays = verdict.pays,
          .interval_ms = rounded_up(verdict.interval),
          .paid_ppm = rounded_up(verdict.paid_time_per_work * kPpm),
          .break_even_ppm = rounded_up(verdict.break_even_discount * kPpm),
          .discount_ppm = rounded_up(verdict.discount * kPpm),
          .relative_cost_ppm = rounded_up((1 - verdict.saving) * kPpm),
          .reason = verdict.reason};
}

}  // namespace pennyweight::advising
