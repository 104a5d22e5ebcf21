// Whether work pays on spot, in whole numbers: for callers that count money exactly.
#pragma once

#include <cstdint>
#include <string_view>

namespace pennyweight::advising {

struct MeasuredSpotWork {
  std::uint64_t mean_time_between_ms = 0;  // of interruptions of one node
  std::uint64_t nodes = 1;                 // of one run: each of them interrupts it
  std::uint64_t save_ms = 0;
  std::uint64_t restart_ms = 0;
  std::uint64_t length_ms = 0;  // of its longest run
  std::uint64_t slack_ms = 0;   // that it may take longer
  std::uint64_t on_demand_micros = 0;
  std::uint64_t spot_micros = 0;
};

struct MeasuredSpot {
  bool pays = false;
  std::uint64_t interval_ms = 0;     // of work, between two saves
  std::uint64_t paid_ppm = 0;        // time paid for a unit of work
  std::uint64_t break_even_ppm = 0;  // discount
  std::uint64_t discount_ppm = 0;
  std::uint64_t relative_cost_ppm = 0;  // of the on-demand cost, rounded up
  std::string_view reason = {};         // why not; a literal
};

// REQUIRES: times and prices are positive; a restart may take no time.
MeasuredSpot judge_measured_spot(const MeasuredSpotWork& work);

}  // namespace pennyweight::advising
