// Admission: whether a team may start a job now, apart from whether there is room for it.
//
// Quotas are those of one Kueue cohort: each team has some GPUs of its own, and may borrow what
// others leave unused, up to a limit. All teams together never hold more than the quotas of all. A
// team without a quota has none of its own and borrows without a limit. What is lent comes back
// when its jobs end: nobody is interrupted.
// Windows: the jobs of a team start within a part of each day only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "insight/replay/job.h"

namespace pennyweight::replay {

struct TeamQuota {
  std::uint64_t milli_gpus = 0;                          // of its own
  std::optional<std::uint64_t> borrowed_milli_max = {};  // nothing: no limit
};

// [from, to) of each day, over midnight where to < from. REQUIRES: from != to.
struct DailyWindow {
  std::uint32_t from_minute = 0;
  std::uint32_t to_minute = 0;
};

struct AdmissionRules {
  std::map<std::string, TeamQuota> quotas = {};     // empty: no quotas
  std::map<std::string, DailyWindow> windows = {};  // teams that are not listed: all day
  std::int64_t begin_of_day_us = 0;                 // how long after a midnight the replay begins
};

class Admission {
 public:
  // `team_of_job`: numbers of teams. REQUIRES: rules outlive it.
  Admission(std::span<const Job> jobs, std::span<const std::uint32_t> team_of_job,
            std::size_t team_count, const AdmissionRules& rules);

  // Whether nothing is restricted.
  bool is_open() const { return !has_quotas_ && !has_windows_; }
  // Whether the team could ever hold so much.
  bool is_possible(std::uint32_t team, std::uint64_t milli_gpus) const;
  // Whether teams hold all that the quotas allow: no job with GPUs is admitted then.
  bool is_full() const { return has_quotas_ && held_ >= cohort_; }
  bool admits(std::uint32_t team, std::uint64_t milli_gpus, std::int64_t now_us) const;
  void start(std::uint32_t team, std::uint64_t milli_gpus);
  void stop(std::uint32_t team, std::uint64_t milli_gpus);
  // The next moment after now at which some window opens; nothing: there are none.
  std::optional<std::int64_t> next_opening_us(std::int64_t now_us) const;

 private:
  struct Team {
    std::uint64_t own = 0;
    std::optional<std::uint64_t> most;  // own and borrowed; nothing: no limit of its own
    std::optional<DailyWindow> window;
    std::uint64_t held = 0;
  };
  std::int64_t of_day_us(std::int64_t now_us) const;

  bool has_quotas_;
  bool has_windows_;
  std::int64_t begin_of_day_us_;
  std::vector<Team> teams_;
  std::uint64_t cohort_ = 0;  // thousandths of a GPU of all quotas
  std::uint64_t held_ = 0;
};

}  // namespace pennyweight::replay
