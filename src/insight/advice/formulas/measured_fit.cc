#include "insight/advice/formulas/measured_fit.h"

#include <cmath>

#include "insight/advice/formulas/card_fit.h"

namespace pennyweight::advising {
namespace {

constexpr double kMillion = 1e6;
constexpr double kGib = 1024.0 * 1024 * 1024;

Card card_of(const MeasuredCard& measured) {
  return {.memory_gb = static_cast<double>(measured.memory_bytes) / kGib,
          .bandwidth_gb_s = static_cast<double>(measured.memory_gb_per_second),
          .dense_tflops = static_cast<double>(measured.dense_gflops) / 1000,
          .price_per_hour = static_cast<double>(measured.price_micros) / kMillion};
}

std::uint64_t millionths(double value) {
  return value > 0 && value < kMillion
             ? static_cast<std::uint64_t>(std::ceil(value * kMillion - 1e-6))
             : 0;
}

}  // namespace

MeasuredFit fit_measured(CardDirection direction, const MeasuredLoad& load,
                         const MeasuredCard& source, const MeasuredCard& target) {
  const CardLoad shares{.mean_activity = static_cast<double>(load.mean_activity_ppm) / kMillion,
                        .p95_activity = static_cast<double>(load.p95_activity_ppm) / kMillion,
                        .mean_dram = static_cast<double>(load.mean_dram_ppm) / kMillion,
                        .p99_memory_gb = static_cast<double>(load.p99_memory_bytes) / kGib};
  const CardFit fit = direction == CardDirection::kSmaller
                          ? fit_smaller_card(shares, card_of(source), card_of(target))
                          : fit_larger_card(shares, card_of(source), card_of(target));
  return {.fits = fit.fits,
          .compute_ppm = millionths(fit.compute),
          .bandwidth_ppm = millionths(fit.bandwidth),
          .slowdown_ppm = millionths(fit.slowdown),
          .relative_cost_ppm = millionths(fit.relative_cost),
          .reason = fit.reason};
}

}  // namespace pennyweight::advising
