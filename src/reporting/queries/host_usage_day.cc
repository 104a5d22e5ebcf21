#include "reporting/queries/host_usage_day.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace pennyweight {
namespace {

// Longer ones are of a run of a job, whose amount is not that of the next run.
constexpr std::uint64_t kMeasurementMaxMs = 60'000;

std::string piece_key(std::string_view measure, const WorkloadId& workload) {
  return std::string(measure) + '\n' + workload.text();
}

// The part of an amount that is spread evenly over `whole`; parts that meet add up to it.
UInt128 part_of(UInt128 amount, const Interval& whole, const Interval& part) {
  const auto until = [&](Instant at) {
    const auto ms = static_cast<std::uint64_t>((at - whole.begin()).count());
    return multiply_divide(amount, ms, whole.length_ms()).quotient;
  };
  return until(part.end()) - until(part.begin());
}

}  // namespace

void HostUsageDay::add(const Outcome& outcome) {
  if (!is_measure_of_host_usage(outcome.measure)) return;
  const auto time = day_.overlap(outcome.during);
  if (!time) return;
  const bool is_peak = outcome.measure == kHostMemoryPeak;
  const UInt128 amount = is_peak ? UInt128{outcome.count} * time->length_ms()
                                 : part_of(outcome.count, outcome.during, *time);
  const bool is_measurement = outcome.during.length_ms() <= kMeasurementMaxMs;
  std::vector<Piece>& pieces = pieces_[piece_key(outcome.measure, outcome.workload)];
  if (!pieces.empty()) {
    Piece& last = pieces.back();
    using std::chrono::hours;
    const bool is_same_hour =
        std::chrono::floor<hours>(last.time.begin()) == std::chrono::floor<hours>(time->begin());
    const bool are_measurements = last.is_measurements && is_measurement;
    // The containers of a pod are measured at moments of their own, so their pieces overlap. Their
    // amounts add up, and their time counts once.
    if (time->begin() < last.time.end() ||
        (are_measurements && is_same_hour && time->begin() == last.time.end())) {
      last.time = Interval(last.time.begin(), std::max(last.time.end(), time->end()));
      last.amount += amount;
      last.is_measurements = are_measurements;
      return;
    }
  }
  pieces.push_back({*time, amount, is_measurement});
}

HostUsageDay::Sum HostUsageDay::used(std::string_view measure, const WorkloadId& workload,
                                     const Interval& time) const {
  Sum sum;
  const auto found = pieces_.find(piece_key(measure, workload));
  if (found == pieces_.end()) return sum;
  for (const Piece& piece : found->second) {
    const auto within = piece.time.overlap(time);
    if (!within) continue;
    sum.known_ms += within->length_ms();
    sum.amount += part_of(piece.amount, piece.time, *within);
  }
  return sum;
}

}  // namespace pennyweight
