// Autoscaling: machines that are started while jobs wait for room, and stopped when nobody needs
// them any more, as a cluster autoscaler does with node pools.
//
// A job that was tried and doesn't fit asks for machines, once: until they are there, nobody starts
// others for it. It takes the room that is left on machines which are starting, then the first
// machine that is off and could hold it. A job on several machines asks for all of them at once, or
// for none: machines that are idle, then those that start for nobody else, then those that are off.
// A machine of which nobody holds anything for a while is stopped, unless a job on several machines
// waits for it; of several the one that is idle longest, and then the last.
// A machine that its provider takes back is none of the pool's until there could be one again; then
// it is off. Jobs that counted on it ask anew, and where fewer than the least are on then, the
// first one that is off starts.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "insight/replay/cluster_state.h"
#include "insight/replay/job.h"

namespace pennyweight::replay {

struct NodePool {
  std::vector<std::uint32_t> machines;  // numbers, ascending. REQUIRES: of no other pool
  std::uint32_t least = 0;              // machines that are always on, the first ones at the start
  std::int64_t start_us = 0;            // from the decision until jobs can run on it
  std::int64_t kept_us = 1;             // how long it stays when nobody holds anything; > 0
};

// A time for which a machine of a pool was on, and had to be paid for.
struct PowerSpan {
  std::uint32_t machine;
  std::int64_t begin_us;
  std::int64_t ready_us;                    // from here on jobs can run on it
  std::optional<std::int64_t> end_us = {};  // nothing: it stays on
};

class Autoscaling {
 public:
  // REQUIRES: the cluster outlives it.
  Autoscaling(const ClusterState& cluster, std::span<const NodePool> pools, std::size_t jobs);

  bool is_used() const { return !pools_.empty(); }
  // Changes when machines start, or room on those that start is given up.
  std::uint64_t version() const { return version_; }
  // Whether the machine is in a pool.
  bool has(std::uint32_t machine) const {
    return is_used() && states_[machine] != State::kAlwaysOn;
  }
  bool is_off(std::uint32_t machine) const { return is_used() && states_[machine] == State::kOff; }
  bool is_starting(std::uint32_t machine) const {
    return is_used() && states_[machine] == State::kStarting;
  }
  bool has_asked(std::uint32_t job) const { return claims_[job].has_value(); }
  const std::set<std::uint32_t>& off() const { return off_; }
  const std::vector<PowerSpan>& spans() const { return spans_; }

  // A job that doesn't fit. Returns the machines that are started for it.
  std::vector<std::uint32_t> provide(std::uint32_t job, const Request& request,
                                     std::int64_t now_us);
  // Starts everything, for a job that is alone and still doesn't fit.
  std::vector<std::uint32_t> provide_all(std::uint32_t job, std::int64_t now_us);
  std::int64_t ready_us(std::uint32_t machine) const { return spans_[span_of_[machine]].ready_us; }
  void machine_is_ready(std::uint32_t machine, std::int64_t now_us);

  // REQUIRES: the machine is in a pool, and not away; no job holds anything of it.
  void take_back(std::uint32_t machine, std::int64_t now_us);
  // A machine that was taken back is there again, and off.
  void machine_is_back(std::uint32_t machine);
  // The machines that are started so that as many are on as have to be.
  std::vector<std::uint32_t> keep_least(std::int64_t now_us);

  void job_started(std::uint32_t job, const Shares& shares);
  void job_stopped(const Shares& shares, std::int64_t now_us);

  // When the next machine will be stopped, unless something happens before.
  std::optional<std::int64_t> next_stop_us(std::int64_t now_us) const;
  // The machines that are stopped now.
  std::vector<std::uint32_t> stop_idle(std::int64_t now_us);
  // When nothing will come any more: each span that ends gets its end.
  void end_spans();

 private:
  enum class State { kAlwaysOn, kOff, kStarting, kOn, kAway };
  struct Pool {
    std::uint32_t least;
    std::int64_t start_us;
    std::int64_t kept_us;
    std::uint64_t on = 0;  // and starting
    // When each machine that nobody holds anything of may be stopped; the last machine first.
    std::set<std::pair<std::int64_t, std::uint32_t>> idle = {};
  };
  // What a waiting job has asked for.
  struct Claim {
    bool is_gang = false;
    Shares starting = {};                  // of machines that start
    std::vector<std::uint32_t> kept = {};  // machines that are on
  };

  static std::pair<std::int64_t, std::uint32_t> idle_key(std::int64_t due, std::uint32_t machine) {
    return {due, ~machine};
  }
  Pool& pool_of(std::uint32_t machine) { return pools_[pool_of_[machine]]; }
  const FreeMachine& whole(std::uint32_t machine) const { return whole_.free_on(machine); }
  void start(std::uint32_t machine, std::int64_t now_us);
  void claim(std::uint32_t job, const Share& share);
  void keep(std::uint32_t job, std::uint32_t machine);
  // Gives up what the job has asked for.
  void give_up(std::uint32_t job);
  void mark_idle(std::uint32_t machine, std::int64_t now_us);
  std::vector<std::uint32_t> provide_gang(std::uint32_t job, const Request& request,
                                          std::int64_t now_us);

  const ClusterState& cluster_;
  ClusterState whole_;  // everything is free
  std::vector<Pool> pools_;
  std::vector<std::size_t> pool_of_;                   // of each machine
  std::vector<State> states_;                          // likewise
  std::vector<std::uint32_t> jobs_on_;                 // likewise
  std::vector<std::uint32_t> kept_for_;                // likewise: jobs on several machines
  std::vector<FreeMachine> unclaimed_;                 // likewise, while it starts
  std::vector<std::vector<std::uint32_t>> claimants_;  // likewise: jobs
  std::vector<std::size_t> span_of_;                   // likewise: the last one
  std::vector<std::int64_t> due_us_;  // likewise: its key among the idle ones of its pool
  std::set<std::uint32_t> off_;
  std::set<std::uint32_t> starting_;
  std::vector<std::optional<Claim>> claims_;  // of each job
  std::set<std::uint32_t> gangs_;             // jobs with a claim on several machines
  std::vector<PowerSpan> spans_;
  std::uint64_t version_ = 1;
};

}  // namespace pennyweight::replay
