// Whether a workload fits another GPU, how much slower it would be there, and what it would cost.
#pragma once

#include <cstdint>
#include <string_view>

namespace pennyweight::advising {

// What a GPU model can do, and what an hour of one GPU costs.
struct Card {
  double memory_gb = 0;
  double bandwidth_gb_s = 0;
  double dense_tflops = 0;  // in the type that the work needs; 0: it has no such type
  double price_per_hour = 0;
};

// Shares from 0 to 1 of the card that the workload runs on.
struct CardLoad {
  double mean_activity = 0;  // of SM or engine; never GPU_UTIL
  double p95_activity = 0;
  double mean_dram = 0;
  double p99_memory_gb = 0;
};

struct CardFit {
  double compute = 0;        // share of the target's compute that the load needs
  double bandwidth = 0;      // of its memory bandwidth
  double slowdown = 1;       // at least 1
  double relative_cost = 1;  // of a unit of work, by what it costs now
  bool fits = false;
  bool fits_if_slower = false;   // only for work that may take longer
  std::string_view reason = {};  // why not; a literal
};

// A smaller card: half-busy at most, with 20 % of memory and of speed to spare, and cheaper for the
// same work.
CardFit fit_smaller_card(const CardLoad& load, const Card& source, const Card& target);
// A larger card, for a workload that is over 90 % busy or whose memory is over 90 % full.
CardFit fit_larger_card(const CardLoad& load, const Card& source, const Card& target);

// The smallest MIG profile: memory of at least 1.2 times the p99, and compute for the p95.
bool fits_mig_profile(const CardLoad& load, std::uint32_t compute_slices,
                      std::uint32_t card_compute_slices, double profile_memory_gb);

}  // namespace pennyweight::advising
