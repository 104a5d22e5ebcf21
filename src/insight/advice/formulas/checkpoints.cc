#include "insight/advice/formulas/checkpoints.h"

#include <cmath>

namespace pennyweight::advising {
namespace {

constexpr double kDiscountMargin = 0.1;

// The principal branch of Lambert's W on [-1/e, 0): w with w * exp(w) = x, by Halley's method.
double lambert_w(double x) {
  // From the series at the branch point, which converges where Halley's own start would not.
  const double p = std::sqrt(2 * (std::exp(1.0) * x + 1));
  double w = -1 + p - p * p / 3 + 11 * p * p * p / 72;
  for (int i = 0; i < 50; ++i) {
    const double e = std::exp(w);
    const double off = w * e - x;
    const double step = off / (e * (w + 1) - (w + 2) * off / (2 * w + 2));
    if (!std::isfinite(step)) break;
    w -= step;
    if (std::fabs(step) < 1e-15) break;
  }
  return w;
}

}  // namespace

double young_interval(const Interruptions& interruptions) {
  return std::sqrt(2 * interruptions.save * interruptions.mean_time_between);
}

double daly_interval(const Interruptions& interruptions) {
  const double mean = interruptions.mean_time_between;
  const double save = interruptions.save;
  if (save >= 2 * mean) return mean;
  const double ratio = save / (2 * mean);
  return std::sqrt(2 * save * mean) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - save;
}

double exact_interval(const Interruptions& interruptions) {
  const double mean = interruptions.mean_time_between;
  return mean * (1 + lambert_w(-std::exp(-1 - interruptions.save / mean)));
}

double paid_time_per_work(const Interruptions& interruptions, double interval) {
  const double mean = interruptions.mean_time_between;
  return mean * std::exp(interruptions.restart / mean) *
         std::expm1((interval + interruptions.save) / mean) / interval;
}

double expected_time_without_saves(double mean_time_between, double work) {
  return mean_time_between * std::expm1(work / mean_time_between);
}

double break_even_discount(double paid_time_per_work) { return 1 - 1 / paid_time_per_work; }

double price_per_useful_hour(double spot_price, double paid_time_per_work) {
  return spot_price * paid_time_per_work;
}

SpotVerdict judge_spot(const SpotJob& job, const SpotOffer& offer,
                       const Interruptions& interruptions) {
  SpotVerdict verdict;
  verdict.interval = daly_interval(interruptions);
  verdict.paid_time_per_work =
      pennyweight::advising::paid_time_per_work(interruptions, verdict.interval);
  verdict.break_even_discount =
      pennyweight::advising::break_even_discount(verdict.paid_time_per_work);
  verdict.discount = 1 - offer.spot_price / offer.on_demand_price;
  verdict.saving = 1 - price_per_useful_hour(offer.spot_price, verdict.paid_time_per_work) /
                           offer.on_demand_price;
  const double elapsed = verdict.paid_time_per_work / offer.availability;
  if (!job.is_checkpointable) {
    verdict.reason = "it is not known to survive an interruption";
  } else if (job.deadline_slack < (elapsed - 1) * job.work) {
    verdict.reason = "it would miss its deadline";
  } else if (verdict.discount <= verdict.break_even_discount + kDiscountMargin) {
    verdict.reason = "the discount is too small for the work that interruptions lose";
  } else {
    verdict.pays = true;
  }
  return verdict;
}

}  // namespace pennyweight::advising
