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
  TeamUsage(std::span<const Job> jobs, const Scheduling& scheduling);

  std::uint32_t team_of(std::uint32_t job) const { return team_of_job_[job]; }
  std::size_t team_count() const { return teams_.size(); }

  // Counts use up to now. Times never go back.
  void advance(std::int64_t now_us);
  void start(std::uint32_t team, std::uint64_t milli_gpus) { teams_[team].held += milli_gpus; }
  void stop(std::uint32_t team, std::uint64_t milli_gpus) { teams_[team].held -= milli_gpus; }

  // Whether team a is served before team b: less held or used for its weight.
  bool is_before(std::uint32_t a, std::uint32_t b) const;

 private:
  struct Team {
    std::uint64_t held = 0;  // GPU thousandths now
    UInt128 used = 0;        // GPU thousandths times microseconds, decayed
    std::uint32_t weight = 1;
  };
  void decay_step();

  bool by_use_;
  std::int64_t step_us_;  // use decays in steps of 1/64 half-life
  std::int64_t counted_to_us_ = 0;
  std::int64_t next_step_us_;
  std::vector<Team> teams_;
  std::vector<std::uint32_t> team_of_job_;
};

}  // namespace pennyweight::replay
