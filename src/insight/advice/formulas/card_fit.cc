#include "insight/advice/formulas/card_fit.h"

#include <algorithm>

namespace pennyweight::advising {
namespace {

constexpr double kHalfBusy = 0.5;
constexpr double kNearlyFull = 0.9;
constexpr double kMemoryHeadroom = 1.2;
constexpr double kSpeedShareMax = 0.8;

CardFit compare_cards(const CardLoad& load, const Card& source, const Card& target) {
  CardFit fit;
  fit.compute = load.mean_activity * source.dense_tflops / target.dense_tflops;
  fit.bandwidth = load.mean_dram * source.bandwidth_gb_s / target.bandwidth_gb_s;
  fit.slowdown = std::max({1.0, fit.compute, fit.bandwidth});
  fit.relative_cost = target.price_per_hour * fit.slowdown / source.price_per_hour;
  return fit;
}

bool is_comparable(const Card& source, const Card& target) {
  return source.dense_tflops > 0 && target.dense_tflops > 0 && source.bandwidth_gb_s > 0 &&
         target.bandwidth_gb_s > 0 && source.price_per_hour > 0 && target.price_per_hour > 0;
}

constexpr std::string_view kNotComparable =
    "its speed in the needed type, its bandwidth or its price is not known";

}  // namespace

CardFit fit_smaller_card(const CardLoad& load, const Card& source, const Card& target) {
  if (!is_comparable(source, target)) return {.reason = kNotComparable};
  CardFit fit = compare_cards(load, source, target);
  if (load.p95_activity >= kHalfBusy) {
    fit.reason = "it is busy for half of the time or more";
  } else if (load.p99_memory_gb * kMemoryHeadroom > target.memory_gb) {
    fit.reason = "its memory would not fit with 20 % to spare";
  } else if (fit.relative_cost >= 1) {
    fit.reason = "the same work would cost as much or more";
  } else if (fit.compute > kSpeedShareMax || fit.bandwidth > kSpeedShareMax) {
    fit.fits_if_slower = true;
    fit.reason = "it would need over 80 % of the card, or run slower";
  } else {
    fit.fits = true;
  }
  return fit;
}

CardFit fit_larger_card(const CardLoad& load, const Card& source, const Card& target) {
  if (!is_comparable(source, target)) return {.reason = kNotComparable};
  CardFit fit;
  const double speed_up = std::min(target.dense_tflops / source.dense_tflops,
                                   target.bandwidth_gb_s / source.bandwidth_gb_s);
  fit.compute = load.mean_activity * source.dense_tflops / target.dense_tflops;
  fit.bandwidth = load.mean_dram * source.bandwidth_gb_s / target.bandwidth_gb_s;
  fit.slowdown = 1;
  fit.relative_cost = target.price_per_hour / source.price_per_hour / speed_up;
  const bool is_full = load.p99_memory_gb > kNearlyFull * source.memory_gb;
  if (load.mean_activity <= kNearlyFull && !is_full) {
    fit.reason = "it is neither over 90 % busy nor over 90 % full";
  } else if (load.p99_memory_gb * kMemoryHeadroom > target.memory_gb) {
    fit.reason = "its memory would not fit with 20 % to spare";
  } else if (fit.relative_cost >= 1) {
    fit.fits_if_slower = false;
    fit.reason = "faster, but dearer for the same work";
  } else {
    fit.fits = true;
  }
  return fit;
}

bool fits_mig_profile(const CardLoad& load, std::uint32_t compute_slices,
                      std::uint32_t card_compute_slices, double profile_memory_gb) {
  return card_compute_slices > 0 && profile_memory_gb >= kMemoryHeadroom * load.p99_memory_gb &&
         static_cast<double>(compute_slices) / card_compute_slices >= load.p95_activity;
}

}  // namespace pennyweight::advising
