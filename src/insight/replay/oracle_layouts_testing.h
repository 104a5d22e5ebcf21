// Machines that are cut in a part of each day: at the hour nobody starts there any more, and when
// nobody holds anything of it the machine is the other one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "insight/replay/oracle_spot_testing.h"

namespace pennyweight::replay {

class OracleLayouts : public OracleSpot {
 protected:
  using OracleSpot::OracleSpot;

  void begin_layouts() {
    for (const CutMachine& machine : world_.layouts) {
      cuts_.push_back({machine, is_cut_by_hour(machine), is_cut_by_hour(machine), 0});
      change(free_, {all_of(cuts_.back().closed())}, true);
      cuts_.back().opening = next_hour(cuts_.back());
    }
  }
  // Whether it is the hour of any.
  bool change_layouts() {
    bool is_any = false;
    for (Cut& cut : cuts_) {
      FreeOn& free = free_[cut.open()];
      if (is_cut_by_hour(cut.machine) != cut.is_wanted) {
        cut.is_wanted = !cut.is_wanted;
        is_any = true;
        reservation_.reset();
        free.is_closed = cut.is_wanted != cut.is_cut;
        cut.opening = free.is_closed ? last_end_on(cut.open()) : next_hour(cut);
      }
      const FreeOn& all = all_[cut.open()];
      const bool is_untouched =
          free.gpus == all.gpus && free.cpu == all.cpu && free.memory == all.memory;
      if (cut.is_wanted == cut.is_cut || !is_untouched) continue;
      free.is_closed = false;
      change(free_, {all_of(cut.open())}, true);
      change(free_, {all_of(cut.closed())}, false);
      cut.is_cut = cut.is_wanted;
      cut.opening = next_hour(cut);
      reservation_.reset();
    }
    return is_any;
  }
  // Where nobody runs or comes, nothing happens before the next hour. False: whoever waits has seen
  // all hours twice.
  bool skip_to_next_hour() {
    if (cuts_.empty() || !running_.empty() || !to_come_.empty()) {
      last_move_ = now_;
      return true;
    }
    std::int64_t next = last_move_ + 3 * kLayoutDayUs;
    for (const Cut& cut : cuts_) {
      for (const std::uint32_t minute :
           {cut.machine.window.from_minute, cut.machine.window.to_minute}) {
        next = std::min(next, next_time(minute));
      }
    }
    now_ = next - 1;
    return next - last_move_ <= 2 * kLayoutDayUs;
  }
  void add_openings(std::vector<std::pair<std::int64_t, std::uint32_t>>& ends) const {
    for (const Cut& cut : cuts_) {
      ends.emplace_back(cut.opening, static_cast<std::uint32_t>(world_.jobs.size()) + cut.closed());
    }
  }

 private:
  struct Cut {
    CutMachine machine;
    bool is_cut, is_wanted;
    std::int64_t opening;  // of the closed one, as is expected
    std::uint32_t open() const { return is_cut ? machine.cut : machine.whole; }
    std::uint32_t closed() const { return is_cut ? machine.whole : machine.cut; }
  };

  bool is_cut_by_hour(const CutMachine& machine) const {
    const std::int64_t minute =
        (now_ + world_.policy.admission.begin_of_day_us) % kLayoutDayUs / 60'000'000;
    return machine.window.from_minute <= minute && minute < machine.window.to_minute;
  }
  std::int64_t next_time(std::uint32_t minute) const {
    std::int64_t at = minute * std::int64_t{60'000'000} - world_.policy.admission.begin_of_day_us;
    while (at <= now_) at += kLayoutDayUs;
    return at;
  }
  std::int64_t next_hour(const Cut& cut) const {
    return next_time(cut.is_cut ? cut.machine.window.to_minute : cut.machine.window.from_minute);
  }
  std::int64_t last_end_on(std::uint32_t machine) const {
    std::int64_t last = now_;
    for (const std::uint32_t job : running_) {
      for (const Share& share : state_[job].shares) {
        if (share.machine == machine) last = std::max(last, state_[job].expected_end);
      }
    }
    return last;
  }

  std::vector<Cut> cuts_;
  std::int64_t last_move_ = 0;
};

}  // namespace pennyweight::replay
