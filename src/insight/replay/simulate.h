// simulate(): replays jobs on machines under a scheduling policy, event by event.
//
// Deterministic: same input and seed, same result. Integers throughout: the GPU time of all jobs
// plus idle, unavailable, off and starting GPU time is exactly capacity times duration, which
// simulate() checks.
// Events of one moment are handled in this order: jobs end, machines come back or have started,
// machines are taken back, jobs arrive, jobs start, machines are stopped; each in the order of the
// input.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/int128.h"
#include "insight/replay/autoscaling.h"
#include "insight/replay/job.h"
#include "insight/replay/layouts.h"
#include "insight/replay/scheduling.h"
#include "insight/replay/spot.h"

namespace pennyweight::replay {

// A span in which a job held its machines.
struct JobRun {
  std::uint32_t job;  // index
  std::int64_t begin_us;
  std::int64_t end_us;
  std::int64_t restart_us;  // from the beginning on, in which no work was done (kOnResume)
  std::int64_t lost_us;     // up to the end: work that no checkpoint has saved
  Shares shares;
};

struct JobResult {
  // Nothing: it never started, since the empty cluster can't hold it.
  std::optional<std::int64_t> first_start_us;
  std::int64_t end_us = 0;
  std::int64_t held_us = 0;  // how long it held its machines, restarts included
  std::uint32_t interruptions = 0;
};

// A machine that was taken back, until another one is there; one of a pool is off then.
struct Outage {
  std::uint32_t machine;
  std::int64_t begin_us;
  std::int64_t end_us;
};

struct Replay {
  std::vector<JobResult> jobs;  // as given
  std::vector<Outage> outages;  // by begin; the last ones may end after the replay
  std::vector<JobRun> runs;     // by end, where keep_runs asks for them
  // When machines of pools were on, by begin; the last ones may end after the replay.
  std::vector<PowerSpan> powered;
  std::vector<std::uint32_t> never_on;  // machines of pools
  std::uint64_t machine_starts = 0;     // likewise
  std::int64_t end_us = 0;              // of the last job; the replay lasts from 0 to here
  std::uint64_t capacity_milli_gpus = 0;
  // Thousandths of a GPU times microseconds, from 0 to end_us.
  Int128 held_milli_gpu_us = 0;
  Int128 idle_milli_gpu_us = 0;
  Int128 unavailable_milli_gpu_us = 0;  // of machines that were taken back
  Int128 off_milli_gpu_us = 0;          // of machines of pools that were off
  Int128 starting_milli_gpu_us = 0;     // of those that were starting
  // Of what was held: what restarts cost, in which no work was done.
  Int128 restart_milli_gpu_us = 0;
  Int128 lost_milli_gpu_us = 0;  // of what was held: work that had to be done again
  std::uint64_t reclaims = 0;    // machines taken back
  std::uint64_t layout_changes = 0;
  Int128 draining_milli_gpu_us = 0;  // of what was idle: on machines that wait to change
  bool is_stopped = false;           // by a Watch: nothing else of it counts then
};

// Another thread's view of a replay.
struct Watch {
  std::atomic<std::uint64_t> jobs_ended = 0;
  std::atomic<bool> stop = false;  // set it, and the replay returns at its next event
};

// Jobs that have waited for so long may run in other places than their own, each with the models
// that such a place has: in the first that has room, and in one place only. A job that its own
// place could never hold goes elsewhere at once. It is reserved for in its own place only.
struct SpillOver {
  std::int64_t after_us = 0;
  std::vector<std::vector<ModelSet>> places = {};  // by Job::elsewhere, less 1
};

struct ReplayOptions {
  Scheduling scheduling = {};
  Spot spot = {};                    // REQUIRES: nothing is taken back where scheduling.preempts
  std::vector<NodePool> pools = {};  // REQUIRES: none where scheduling.preempts
  // REQUIRES: their cut machines are the last ones, in this order; nothing else of these options,
  // and no scheduling.preempts.
  std::vector<CutMachine> layouts = {};
  SpillOver spill_over = {};  // REQUIRES: no job has other places where scheduling.preempts
  bool keep_runs = false;
  Watch* watch = nullptr;
};

// REQUIRES: work_us > 0 and submit_us >= 0 for each job; machines as ClusterState requires them.
Replay simulate(std::span<const Job> jobs, std::span<const Machine> machines,
                const ReplayOptions& options);

}  // namespace pennyweight::replay
