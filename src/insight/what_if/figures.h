// Figures of a replay: waits, GPU time and fairness, of all jobs and of each team.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/int128.h"
#include "insight/replay/simulate.h"
#include "insight/what_if/fragmentation.h"
#include "insight/what_if/replay_world.h"

namespace pennyweight::what_if {

// Times in microseconds, GPU time in thousandths of a GPU times microseconds; both within the
// period.
struct TimeFigures {
  std::int64_t mean = 0;
  std::int64_t p50 = 0;
  std::int64_t p95 = 0;
  std::int64_t p99 = 0;
};

struct JobFigures {
  std::uint64_t jobs = 0;
  std::uint64_t never_start = 0;               // too large for the fleet
  TimeFigures wait;                            // from submission to first start
  TimeFigures completion;                      // from submission to the end
  std::vector<std::int64_t> wait_percentiles;  // 0 to 100, where any job started
  std::int64_t makespan = 0;                   // from the beginning to the last job's end
  Int128 held = 0;
  Int128 capacity = 0;
  Int128 unfinished = 0;  // work that is left when the period ends, in jobs that were to run in it
  std::uint64_t interruptions = 0;
  Int128 unavailable = 0;  // of nodes that were taken back
  Int128 lost = 0;         // of `held`: work that had to be done again
  Int128 off = 0;          // of nodes of pools that were off
  Int128 starting = 0;     // of those that were starting
  Int128 idle = 0;         // of nodes that were on: GPUs that nobody held
  std::uint64_t node_starts = 0;
  std::uint64_t layout_changes = 0;  // of nodes that are cut by the hour
  Int128 draining = 0;  // of idle GPUs: on nodes that wait to change their layout, to the last end
  std::uint64_t elsewhere = 0;   // jobs that ran in another place than their own
  std::uint64_t with_limit = 0;  // jobs that may wait so long and no longer
  std::uint64_t over_limit = 0;  // of these: jobs that waited longer, or never started
  // Of GPUs, in watts times thousandths of a GPU times microseconds; nothing: it isn't counted.
  std::optional<Int128> energy = {};
  std::optional<Fragmentation> fragmentation = {};
  // Of `held`, in millionths of its unit: what telemetry saw of these jobs, and saw them use. A job
  // uses its GPUs in a replay as it did in the month.
  Int128 seen = 0;
  Int128 used = 0;
  std::uint64_t gpus_without_watts = 0;  // that `energy` leaves out
};

// The same of one team; a job that never starts has no wait.
struct TeamFigures {
  std::uint64_t jobs = 0;
  std::uint64_t never_start = 0;
  Int128 held = 0;
  TimeFigures wait;
  TimeFigures completion;
  // How many times as long its jobs took as they would have without waiting and interruptions
  // (finish-time fairness), in thousandths.
  std::uint64_t stretch_milli = 1000;
  std::uint64_t with_limit = 0;  // as JobFigures
  std::uint64_t over_limit = 0;
};

// What went on at a moment of a replay: GPUs held in thousandths, and jobs that wait.
struct Moment {
  std::int64_t at_us = 0;
  std::uint64_t held_milli = 0;
  std::uint64_t waiting = 0;
};
constexpr std::size_t kMomentsMax = 200;  // evenly spaced over the period
// The jobs of nobody have an empty name.
using FiguresByTeam = std::map<std::string, TeamFigures>;

// What became of one job.
struct JobTimes {
  std::string name;
  std::string team;
  std::uint64_t milli_gpus = 0;
  std::int64_t submit_us = 0;                 // before the period where negative
  std::optional<std::int64_t> start_us = {};  // nothing: it never started
  std::int64_t end_us = 0;
  std::int64_t held_us = 0;  // restarts included
  std::uint32_t interruptions = 0;
};

std::int64_t period_us(const Interval& period);

// How long each job that started waited, from submission to its first start, waiting before the
// period included; in the order of the jobs.
std::vector<std::int64_t> waits_of(const ReplayWorld& world, const replay::Replay& replay);
// Sorts the times.
TimeFigures time_figures(std::vector<std::int64_t>& times);

// REQUIRES for these: the replay is of the world, and kept its runs.
JobFigures figures_of(const ReplayWorld& world, const replay::Replay& replay);
FiguresByTeam team_figures(const ReplayWorld& world, const replay::Replay& replay);
// GPUs held and jobs waiting, at evenly spaced moments of the period.
std::vector<Moment> moments_of(const ReplayWorld& world, const replay::Replay& replay);

std::vector<JobTimes> job_times(const ReplayWorld& world, const replay::Replay& replay);

// By the ledger, before anything is replayed.
JobFigures figures_as_it_was(const ReplayWorld& world);

// Jain's index of how much longer the teams' jobs took, in millionths: 1,000,000 where all teams
// were stretched alike, 1,000,000 / teams where one alone was.
std::uint64_t jain_index(const FiguresByTeam& teams);

}  // namespace pennyweight::what_if
