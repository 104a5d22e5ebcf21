// Days: the shares of a run's lines, a local day at a time, since a day of telemetry is much and a
// month of it too much. A line is handed over as soon as its last day is done, so that a run needs
// memory for one day, and for lines that are longer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "allocate/allocate.h"
#include "allocate/line.h"
#include "allocate/occupancy.h"
#include "allocate/share.h"

namespace pennyweight {

// What telemetry had that the reader should know, over all days.
struct SeenCounts {
  std::uint64_t samples = 0, clamped = 0, unreliable = 0, copies = 0;
  void add(const SeenUsage& seen);
};

// A line, as an index of Lines::all, and all of its shares.
struct FinishedLine {
  std::uint32_t line;
  std::vector<Share> shares;
};

class Days {
 public:
  // REQUIRES: all of these outlive this.
  Days(const AllocationInput& input, const Lines& lines, const Surroundings& around,
       const Demands& demands);

  // Each line is handed over once: by its last day, then in the order of Lines::all.
  using Finish = std::function<Result<void>(std::vector<FinishedLine>)>;
  Result<void> run(const Finish& finish);

  // The local day of each of Lines::stretches.
  const std::vector<std::chrono::sys_days>& dates() const { return dates_; }
  const SeenCounts& counts() const { return counts_; }

 private:
  // Stretches [begin, end) that lie in one local day, and that day.
  struct Day {
    std::uint32_t begin;
    std::uint32_t end;
    Interval all;
  };
  // Demands on one machine, or in pools: all by their begin, and those of the day in hand.
  struct MachineDemands {
    std::vector<const Demand*> by_begin;
    std::size_t next = 0;
    std::vector<const Demand*> today;  // by holding

    void advance(const Interval& day);
  };

  void find_days();
  void share_day(const Day& day, const SeenIndex& seen);
  // All machines of all stretches of the day: the work that counts, in blocks for the threads.
  std::vector<Occupancy> occupy(const Day& day, const SeenIndex& seen) const;
  void share_stretches(const Day& day, std::vector<Occupancy>& occupancies);
  std::vector<FinishedLine> lines_ending_on(const Day& day);
  std::span<const Interval> stretches_of(const Day& day) const {
    return std::span(lines_.stretches).subspan(day.begin, day.end - day.begin);
  }

  const AllocationInput& input_;
  const Lines& lines_;
  const Surroundings& around_;
  std::vector<std::vector<LineStretch>> here_;  // the lines of each stretch
  std::vector<std::chrono::sys_days> dates_;
  std::vector<Day> days_;
  std::vector<MachineDemands> demands_;  // as Fleet::machines, and at the end those in pools
  std::vector<std::vector<Share>> by_line_;
  SeenCounts counts_;
};

}  // namespace pennyweight
