// MIG layouts by the hour: machines whose GPUs are cut into instances in a part of each day.
//
// Such a machine is there twice among the machines: whole, and cut, with another model, so that
// jobs say by their models which of both they take. One of them is open at a time. At the hour it
// is closed to jobs that start; those on it run to their end, and when nobody holds anything of it
// any more the other one opens. If the hour has passed meanwhile it opens again itself.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "insight/replay/admission.h"
#include "insight/replay/job.h"

namespace pennyweight::replay {

constexpr std::int64_t kLayoutDayUs = std::int64_t{24} * 3600 * 1'000'000;

struct CutMachine {
  std::uint32_t whole = 0;  // numbers of machines with as many GPUs
  std::uint32_t cut = 0;
  DailyWindow window = {};  // in which it is cut
};

// Which of both is open, and which ought to be.
class LayoutHours {
 public:
  struct Layout {
    CutMachine machine;
    bool is_cut = false;
    bool is_wanted_cut = false;
    std::uint32_t open() const { return is_cut ? machine.cut : machine.whole; }
    std::uint32_t closed() const { return is_cut ? machine.whole : machine.cut; }
    bool is_draining() const { return is_cut != is_wanted_cut; }
  };

  // At time 0 each is as the hour wants it.
  LayoutHours(std::span<const CutMachine> machines, std::int64_t begin_of_day_us);

  bool is_used() const { return !layouts_.empty(); }
  const std::vector<Layout>& layouts() const { return layouts_; }
  // The next moment after now at which some layout is to change; the end of time without layouts.
  std::int64_t next_change_us(std::int64_t now_us) const;
  // Wants what the hour says. Returns those for which that is new.
  std::vector<std::size_t> change(std::int64_t now_us);
  void complete(std::size_t layout);  // the other one opens
  // The next moment after now at which the layout is to be the other one.
  std::int64_t next_opening_us(std::size_t layout, std::int64_t now_us) const;

 private:
  bool is_cut_at(const DailyWindow& window, std::int64_t us) const;
  std::int64_t next_us(std::uint32_t minute, std::int64_t now_us) const;

  std::int64_t begin_of_day_us_;
  std::vector<Layout> layouts_;
  std::set<std::uint32_t> minutes_;  // of the day at which some layout changes
};

}  // namespace pennyweight::replay
