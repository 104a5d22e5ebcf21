// DailySharing: computes the shares of a run's charges one local day at a time, so that only a day
// of telemetry is in memory. A charge is handed over as soon as its last day is done.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "allocation/allocate.h"
#include "allocation/occupancy.h"
#include "allocation/resolved_charge.h"
#include "allocation/weighted_share.h"

namespace pennyweight {

// What a reader should know about the telemetry, summed over all days.
struct TelemetryCounts {
  std::uint64_t samples = 0, clamped = 0, unreliable = 0, copies = 0;
  void add(const ObservedUtilization& utilization);
};

// A charge, as an index of ResolvedCharges::all, and all of its shares.
struct FinishedCharge {
  std::uint32_t charge;
  std::vector<WeightedShare> shares;
};

class DailySharing {
 public:
  // REQUIRES: all of these outlive this.
  DailySharing(const AllocationInput& input, const ResolvedCharges& charges,
               const AllocationContext& context, const Demands& demands);

  // Takes each charge once: by its last day, then in the order of ResolvedCharges::all.
  using Finish = std::function<Result<void>(std::vector<FinishedCharge>)>;
  Result<void> run(const Finish& finish);

  // The local day of each of ResolvedCharges::segments.
  const std::vector<std::chrono::sys_days>& dates() const { return dates_; }
  const TelemetryCounts& counts() const { return counts_; }

 private:
  // A local day and its segments [begin, end).
  struct Day {
    std::uint32_t begin;
    std::uint32_t end;
    Interval all;
  };
  // The demands on one machine, or in pools: all of them, and those of the current day.
  struct MachineDemands {
    std::vector<const Demand*> by_begin;
    std::size_t next = 0;
    std::vector<const Demand*> today;  // by holding

    void advance(const Interval& day);
  };

  void find_days();
  void share_day(const Day& day, const UtilizationIndex& utilization);
  // Divides all machines over all segments of the day, in blocks for the threads. This is the bulk
  // of a run's work.
  std::vector<Occupancy> occupy(const Day& day, const UtilizationIndex& utilization) const;
  void share_segments(const Day& day, std::vector<Occupancy>& occupancies);
  std::vector<FinishedCharge> charges_ending_on(const Day& day);
  std::span<const Interval> segments_of(const Day& day) const {
    return std::span(charges_.segments).subspan(day.begin, day.end - day.begin);
  }

  const AllocationInput& input_;
  const ResolvedCharges& charges_;
  const AllocationContext& context_;
  std::vector<std::vector<ChargeSegment>> segments_;  // the charges of each segment
  std::vector<std::chrono::sys_days> dates_;
  std::vector<Day> days_;
  std::vector<MachineDemands> demands_;  // as Fleet::machines; last, those in pools
  std::vector<std::vector<WeightedShare>> by_charge_;
  TelemetryCounts counts_;
};

}  // namespace pennyweight
