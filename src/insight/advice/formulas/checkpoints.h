// How often to save a job that may be interrupted, and what an interrupted job costs.
//
// Interruptions come at random, with a mean time between them; each loses what was computed since
// the last save. Young 1974 and Daly 2006 give the interval that loses least.
#pragma once

namespace pennyweight::advising {

// All times in one unit, which the caller chooses; hours here. REQUIRES of all functions: times are
// positive and finite, a restart may be 0.
struct Interruptions {
  double mean_time_between = 0;
  double save = 0;     // what writing one checkpoint takes
  double restart = 0;  // from an interruption until the job computes again
};

// Compute time between two saves.
double young_interval(const Interruptions& interruptions);
double daly_interval(const Interruptions& interruptions);
// The optimum for exponentially distributed interruptions.
double exact_interval(const Interruptions& interruptions);

// Time paid for an hour of work, with saves every `interval`: at least 1. Restarts are paid as
// well.
double paid_time_per_work(const Interruptions& interruptions, double interval);
// The expected time until `work` is done by a job that saves nothing.
double expected_time_without_saves(double mean_time_between, double work);

// Spot costs less for the same work exactly where its discount is larger than this share of the
// on-demand price, from 0 to 1. REQUIRES: paid_time_per_work >= 1.
double break_even_discount(double paid_time_per_work);
// What a useful hour costs on spot.
double price_per_useful_hour(double spot_price, double paid_time_per_work);

// What decides whether a job may run on spot.
struct SpotJob {
  bool is_checkpointable = false;
  double work = 0;
  double deadline_slack = 0;  // beyond `work`
};
struct SpotOffer {
  double on_demand_price = 0;
  double spot_price = 0;
  double availability = 1;  // share of time in which there is spot capacity: over 0, at most 1
};
struct SpotVerdict {
  bool pays = false;
  double interval = 0;  // Daly's
  double paid_time_per_work = 1;
  double break_even_discount = 0;
  double discount = 0;
  double saving = 0;        // share of the on-demand cost of the work; negative: it costs more
  const char* reason = "";  // why not; a literal
};
// Demands ten points of discount beyond the break-even, since interruption rates are estimates.
SpotVerdict judge_spot(const SpotJob& job, const SpotOffer& offer,
                       const Interruptions& interruptions);

}  // namespace pennyweight::advising
