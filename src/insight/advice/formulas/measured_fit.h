// The decision of card_fit.h for measured whole numbers, with the result as millionths.
#pragma once

#include <cstdint>
#include <string_view>

namespace pennyweight::advising {

struct MeasuredLoad {
  std::uint64_t mean_activity_ppm = 0;
  std::uint64_t p95_activity_ppm = 0;
  std::uint64_t mean_dram_ppm = 0;
  std::uint64_t p99_memory_bytes = 0;
};

struct MeasuredCard {
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_gb_per_second = 0;
  std::uint64_t dense_gflops = 0;
  std::uint64_t price_micros = 0;  // millionths of the currency an hour
};

struct MeasuredFit {
  bool fits = false;
  std::uint64_t compute_ppm = 0;
  std::uint64_t bandwidth_ppm = 0;
  std::uint64_t slowdown_ppm = 0;       // at least 1,000,000
  std::uint64_t relative_cost_ppm = 0;  // rounded up
  std::string_view reason = {};
};

enum class CardDirection { kSmaller, kLarger };
MeasuredFit fit_measured(CardDirection direction, const MeasuredLoad& load,
                         const MeasuredCard& source, const MeasuredCard& target);

}  // namespace pennyweight::advising
