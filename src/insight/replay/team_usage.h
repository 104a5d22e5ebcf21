// TeamUsage: what each team holds and has used, for fair queues.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/int128.h"
#include "insight/replay/job.h"
#include "insight/replay/scheduling.h"

namespace pennyweight::replay {

class TeamUsage {
 public:
  TeamUsage(std::span<const Job> jobs, std::span<const Machine> machines,
            const Scheduling& scheduling);

  std::uint32_t team_of(std::uint32_t job) const { return team_of_job_[job]; }
  std::size_t team_count() const { return teams_.size(); }
  std::span<const std::uint32_t> team_of_jobs() const { return team_of_job_; }

  // Counts use up to now. Times never go back.
  void advance(std::int64_t now_us);
  void start(std::uint32_t team, const Request& request);
  void stop(std::uint32_t team, const Request& request);

  // Jobs that wait, for what teams deserve. They matter where the order asks for it only.
  void add_waiting(std::uint32_t team, const Request& request);
  void remove_waiting(std::uint32_t team, const Request& request);
  // Divides the GPUs anew by what teams ask for now.
  void divide();
  // Whether it holds all that it deserves. A team that holds nothing never does.
  bool has_its_share(std::uint32_t team) const {
    return by_proportion_ && teams_[team].held > 0 && teams_[team].held >= teams_[team].deserved;
  }

  // Whether team a is served before team b: less held or used for its weight.
  bool is_before(std::uint32_t a, std::uint32_t b) const;

 private:
  struct Team {
    std::uint64_t held = 0;  // GPU thousandths now
    UInt128 cpu_held = 0;
    UInt128 memory_held = 0;
    UInt128 used = 0;            // GPU thousandths times microseconds, decayed
    std::uint64_t waiting = 0;   // GPU thousandths
    std::uint64_t deserved = 0;  // likewise
    std::uint32_t weight = 1;
  };
  void decay_step();
  // The largest of its shares of all GPUs, CPUs and memory, in parts of 2^40.
  UInt128 dominant_share(const Team& team) const;

  bool by_use_;
  bool by_dominant_share_;
  bool by_proportion_;
  UInt128 gpus_ = 0;  // thousandths, of all machines; likewise the others
  UInt128 cpus_ = 0;
  UInt128 memory_ = 0;
  std::int64_t step_us_;  // use decays in steps of 1/64 half-life
  std::int64_t counted_to_us_ = 0;
  std::int64_t next_step_us_;
  std::vector<Team> teams_;
  std::vector<std::uint32_t> team_of_job_;
};

}  // namespace pennyweight::replay
