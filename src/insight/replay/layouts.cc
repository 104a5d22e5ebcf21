#include "insight/replay/layouts.h"

#include <algorithm>
#include <limits>

namespace pennyweight::replay {
namespace {

constexpr std::int64_t kLayoutMinuteUs = std::int64_t{60} * 1'000'000;

}  // namespace

LayoutHours::LayoutHours(std::span<const CutMachine> machines, std::int64_t begin_of_day_us)
    : begin_of_day_us_(begin_of_day_us) {
  for (const CutMachine& machine : machines) {
    const bool is_cut = is_cut_at(machine.window, 0);
    minutes_.insert({machine.window.from_minute, machine.window.to_minute});
    layouts_.push_back({.machine = machine, .is_cut = is_cut, .is_wanted_cut = is_cut});
  }
}

std::int64_t LayoutHours::next_change_us(std::int64_t now_us) const {
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (const std::uint32_t minute : minutes_) next = std::min(next, next_us(minute, now_us));
  return next;
}

std::vector<std::size_t> LayoutHours::change(std::int64_t now_us) {
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const bool is_wanted_cut = is_cut_at(layouts_[i].machine.window, now_us);
    if (is_wanted_cut == layouts_[i].is_wanted_cut) continue;
    layouts_[i].is_wanted_cut = is_wanted_cut;
    changed.push_back(i);
  }
  return changed;
}

void LayoutHours::complete(std::size_t layout) {
  layouts_[layout].is_cut = layouts_[layout].is_wanted_cut;
}

std::int64_t LayoutHours::next_opening_us(std::size_t layout, std::int64_t now_us) const {
  const Layout& of = layouts_[layout];
  return next_us(of.is_cut ? of.machine.window.to_minute : of.machine.window.from_minute, now_us);
}

bool LayoutHours::is_cut_at(const DailyWindow& window, std::int64_t us) const {
  const std::int64_t of_day = (us + begin_of_day_us_) % kLayoutDayUs;
  const std::int64_t from = window.from_minute * kLayoutMinuteUs;
  const std::int64_t to = window.to_minute * kLayoutMinuteUs;
  return from < to ? from <= of_day && of_day < to : from <= of_day || of_day < to;
}

std::int64_t LayoutHours::next_us(std::uint32_t minute, std::int64_t now_us) const {
  const std::int64_t of_day = (now_us + begin_of_day_us_) % kLayoutDayUs;
  const std::int64_t wait = minute * kLayoutMinuteUs - of_day;
  return now_us + (wait <= 0 ? wait + kLayoutDayUs : wait);
}

}  // namespace pennyweight::replay
