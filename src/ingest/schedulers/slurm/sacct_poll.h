// Plans what to ask sacct next, without clocks, programs or files.
//
// Everything that ended before `settled` has been read. So the next request begins there, minus an
// overlap, since the end of a job reaches slurmdbd a little later. Once an hour a whole day is read
// again: slurmctld keeps records while slurmdbd is away and delivers them hours late. Reading a job
// twice is harmless; the ledger knows it as one fact.
//
// A long way back (the first poll, or after a pause) is cut into pieces of a day, the oldest first,
// a few of them in each poll. A failed request leaves the state as it is, so it is repeated.
//
// Times are given to sacct as "now-<seconds>", on its own clock, so that no time zone, no summer
// time and no difference between two clocks matters. It is asked for jobs in all states but
// pending: there may be a hundred thousand of those, and they hold nothing. With --state sacct
// gives the jobs that ended in the window and those that ran in it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/instant.h"

namespace pennyweight::slurm {

struct SacctPlan {
  std::chrono::seconds overlap = std::chrono::minutes(10);
  std::chrono::seconds deep_every = std::chrono::hours(1);
  std::chrono::seconds deep_back = std::chrono::hours(24);
  std::chrono::seconds window_max = std::chrono::hours(24);
  std::size_t windows_max = 8;  // a poll
};

struct SacctState {
  Instant settled;                 // at first: where to begin
  std::optional<Instant> deep_at;  // when the whole day was last read again
  bool operator==(const SacctState&) const = default;
};

struct SacctWindow {
  Instant begin;
  Instant end;
  bool is_deep = false;
  bool is_last = false;  // ends now
  bool operator==(const SacctWindow&) const = default;
};

// Oldest first; never empty. A clock that was set back gives one window, the overlap before `now`.
std::vector<SacctWindow> plan_sacct(const SacctState& state, const SacctPlan& plan, Instant now);

// The state after a window of a plan made at `now` was read and stored.
SacctState after_window(const SacctState& state, const SacctWindow& window, Instant now);

// The arguments of sacct for a window, at `now`, without the name of the program. `cluster` is the
// name in slurmdbd; empty: that of the machine.
std::vector<std::string> sacct_arguments(const SacctWindow& window, Instant now,
                                         const std::string& cluster, char delimiter);

}  // namespace pennyweight::slurm
