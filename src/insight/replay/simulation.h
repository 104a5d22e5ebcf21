// Simulation: what every way of scheduling shares: the cluster, the clock and the account of GPU
// time. simulate() chooses the way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "insight/replay/admission.h"
#include "insight/replay/cluster_state.h"
#include "insight/replay/job.h"
#include "insight/replay/placement.h"
#include "insight/replay/seeded_random.h"
#include "insight/replay/simulate.h"
#include "insight/replay/team_usage.h"

namespace pennyweight::replay {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class Simulation {
 protected:
  // REQUIRES: the arguments outlive it.
  Simulation(std::span<const Job> jobs, std::span<const Machine> machines,
             const ReplayOptions& options);

  // Checks that GPU time of jobs and all others is the capacity.
  Replay take_result();

  // Whether somebody has asked the replay to end.
  bool is_stopped();

  std::int64_t next_arrival_us() const {
    return arrived_ < arrivals_.size() ? jobs_[arrivals_[arrived_]].submit_us : kNever;
  }
  void advance_to(std::int64_t to_us);
  void record_start(std::uint32_t job);
  // The job no longer holds held_[job].
  void record_stop(std::uint32_t job, std::int64_t lost_us = 0);
  void record_end(std::uint32_t job);

  std::span<const Job> jobs_;
  const ReplayOptions& options_;
  const Scheduling& policy_;
  RequestKinds kinds_;
  SeededRandom random_;
  ClusterState cluster_;
  Placement placement_;
  TeamUsage usage_;
  Admission admission_;
  std::vector<Shares> held_;               // of each job
  std::vector<std::int64_t> begun_us_;     // since when each job holds held_
  std::vector<std::int64_t> restarts_us_;  // what its last resumption costs each job
  std::vector<std::uint32_t> arrivals_;
  std::size_t arrived_ = 0;
  std::int64_t now_us_ = 0;
  std::vector<bool> fits_at_home_;       // of each kind of request
  std::uint64_t unavailable_milli_ = 0;  // of machines that were taken back, now
  std::uint64_t off_milli_ = 0;          // of machines of pools, likewise
  std::uint64_t starting_milli_ = 0;
  std::uint64_t draining_milli_ = 0;  // free on machines that wait to change their layout
  bool has_requests_without_gpu_ =
      std::any_of(kinds_.kinds.begin(), kinds_.kinds.end(),
                  [](const RequestKind& kind) { return kind.request.milli_gpus() == 0; });
  Replay replay_;

 private:
  // Jobs that the empty cluster can't hold, or that their team may never start, never arrive.
  void drop_impossible(std::span<const Machine> machines);
};

// A job that runs goes on to its end, unless its machine is taken back.
Replay run_to_end(std::span<const Job> jobs, std::span<const Machine> machines,
                  const ReplayOptions& options);

// A job that comes first in the queue and doesn't fit interrupts jobs that come after it, the last
// of them first, and no more of them than it needs. Nobody else is moved.
Replay run_preempting(std::span<const Job> jobs, std::span<const Machine> machines,
                      const ReplayOptions& options);

// Every arrival and end plans all jobs anew, from an empty cluster.
Replay run_planned_anew(std::span<const Job> jobs, std::span<const Machine> machines,
                        const ReplayOptions& options);

}  // namespace pennyweight::replay
