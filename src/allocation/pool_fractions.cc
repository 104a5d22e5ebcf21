#include "allocation/pool_fractions.h"

#include <algorithm>
#include <array>

#include "allocation/pool_sharing.h"
#include "core/check.h"

namespace pennyweight {
namespace {

constexpr unsigned kPoolFractionBits = 60;

std::vector<const Steps*> pointers_to(const std::vector<Steps>* all) {
  std::vector<const Steps*> out;
  if (all == nullptr) return out;
  for (const Steps& steps : *all) out.push_back(&steps);
  return out;
}

std::uint64_t floor_part(std::uint64_t units, std::uint64_t part, std::uint64_t whole) {
  return static_cast<std::uint64_t>(multiply_divide(units, part, whole).quotient);
}

}  // namespace

CumulatedLevels::CumulatedLevels(const Interval& segment, std::vector<Steps> machines)
    : machines_(std::move(machines)) {
  sums_.emplace(0, Steps{{segment.begin(), 0}});
}

bool CumulatedLevels::is_zero(std::size_t machine) const {
  return std::all_of(machines_[machine].begin(), machines_[machine].end(),
                     [](const Step& step) { return step.units == 0; });
}

const Steps& CumulatedLevels::upto(std::size_t machines) {
  const auto found = sums_.find(machines);
  if (found != sums_.end()) return found->second;
  const auto before = std::prev(sums_.lower_bound(machines));
  std::vector<const Steps*> parts = {&before->second};
  for (std::size_t i = before->first; i < machines; ++i) parts.push_back(&machines_[i]);
  return sums_.emplace(machines, sum_steps(parts)).first->second;
}

PoolFractions::Group::Group(const Occupancy& in, std::span<const Selector> all, const Fleet& of,
                            std::uint32_t index)
    : occupancy(in), selectors(all), fleet(of), node_group(index) {}

CumulatedLevels& PoolFractions::Group::free(std::size_t axis) {
  if (free_[axis] != nullptr) return *free_[axis];
  std::vector<Steps> levels;
  for (const std::uint32_t machine : fleet.node_groups()[node_group].nodes) {
    const Steps& left = occupancy.machines[machine].left[axis];
    levels.push_back(left.empty() ? Steps{{occupancy.segment.begin(), 0}} : left);
  }
  free_[axis] = std::make_unique<CumulatedLevels>(occupancy.segment, std::move(levels));
  return *free_[axis];
}

CumulatedLevels& PoolFractions::Group::unrequested() {
  if (unrequested_ != nullptr) return *unrequested_;
  std::vector<Steps> levels;
  bool is_free = true;  // what is free, on every machine
  for (const std::uint32_t machine : fleet.node_groups()[node_group].nodes) {
    const MachineOccupancy& here = occupancy.machines[machine];
    const Steps& left = here.free_levels.empty() ? here.left[kCompute] : here.free_levels;
    is_free = is_free && here.free_levels.empty();
    levels.push_back(left.empty() ? Steps{{occupancy.segment.begin(), 0}} : left);
  }
  if (is_free) return free(kCompute);
  unrequested_ = std::make_unique<CumulatedLevels>(occupancy.segment, std::move(levels));
  return *unrequested_;
}

CumulatedLevels& PoolFractions::Group::for_time() {
  if (for_time_ != nullptr) return *for_time_;
  const std::vector<Interval> full = zero_times(occupancy.segment, free(kCompute).all());
  std::vector<Steps> levels;
  for (const std::uint32_t machine : fleet.node_groups()[node_group].nodes) {
    Steps level = occupancy.machines[machine].left[kCompute];
    if (level.empty()) level = {{occupancy.segment.begin(), 0}};
    if (!full.empty()) {
      const Steps instead = restrict_to(
          occupancy.segment, compute_present(occupancy, fleet.machines()[machine]), full);
      level = sum_steps(std::array{&std::as_const(level), &instead});
    }
    levels.push_back(std::move(level));
  }
  for_time_ = std::make_unique<CumulatedLevels>(occupancy.segment, std::move(levels));
  return *for_time_;
}

PoolFractions::PoolFractions(Group& group, std::span<const std::uint32_t> machines)
    : group_(group) {
  const auto& all = group.fleet.node_groups()[group.node_group].nodes;
  for (const std::uint32_t machine : machines) {
    const auto at = std::lower_bound(all.begin(), all.end(), machine);
    CHECK(at != all.end() && *at == machine, "the machine is of the node group");
    const auto position = static_cast<std::size_t>(at - all.begin());
    if (!runs_.empty() && runs_.back().second == position) {
      runs_.back().second = position + 1;
    } else {
      runs_.emplace_back(position, position + 1);
    }
  }
}

// Whether no other machine of the node group ever has any.
bool PoolFractions::is_all(CumulatedLevels& levels) const {
  std::size_t run = 0;
  for (std::size_t i = 0; i < levels.count(); ++i) {
    while (run < runs_.size() && runs_[run].second <= i) ++run;
    const bool is_in = run < runs_.size() && runs_[run].first <= i;
    if (!is_in && !levels.is_zero(i)) return false;
  }
  return true;
}

void PoolFractions::Cumulated::add(Instant begin, UInt128 level, std::uint64_t length_ms) {
  at.push_back(begin);
  levels.push_back(level);
  before.push_back(sum);
  sum += level * length_ms;
}

UInt128 PoolFractions::Cumulated::integral(const Interval& during) const {
  const auto to = [&](Instant when) -> UInt128 {
    const auto after = std::upper_bound(at.begin(), at.end(), when);
    const auto i = static_cast<std::size_t>(after - at.begin()) - 1;
    return before[i] + levels[i] * static_cast<std::uint64_t>((when - at[i]).count());
  };
  return to(during.end()) - to(during.begin());
}

// Calls `act` for each time in which neither these machines nor the node group nor any of `also`
// change.
template <class Act>
void PoolFractions::for_each_moment(CumulatedLevels& levels, std::span<const Steps* const> also,
                                    Act act) const {
  std::vector<Instant> at = {group_.occupancy.segment.end()};
  std::vector<StepCursor> cursors;
  const auto add = [&](const Steps& steps) {
    for (const Step& step : steps) at.push_back(step.at);
    cursors.emplace_back(steps);
  };
  add(levels.all());
  for (const auto& [first, last] : runs_) {
    add(levels.upto(first));
    add(levels.upto(last));
  }
  for (const Steps* steps : also) add(*steps);
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  Moment moment;
  moment.runs.resize(runs_.size());
  moment.also.resize(also.size());
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    moment.begin = at[i];
    moment.length_ms = static_cast<std::uint64_t>((at[i + 1] - at[i]).count());
    std::size_t cursor = 0;
    moment.whole = cursors[cursor++].level_at(at[i]);
    for (auto& [before, after] : moment.runs) {
      before = cursors[cursor++].level_at(at[i]);
      after = cursors[cursor++].level_at(at[i]);
    }
    for (std::uint64_t& level : moment.also) level = cursors[cursor++].level_at(at[i]);
    act(std::as_const(moment));
  }
}

std::uint64_t PoolFractions::node_group_position(std::uint32_t selector) const {
  const Selector& groups = group_.selectors[selector];
  const auto at = std::lower_bound(groups.begin(), groups.end(), group_.node_group);
  CHECK(at != groups.end() && *at == group_.node_group, "the selector has the node group");
  return static_cast<std::uint64_t>(at - groups.begin());
}

const std::vector<Steps>* PoolFractions::stage_of(std::uint32_t selector,
                                                  std::optional<std::size_t> axis) const {
  const auto found = group_.occupancy.selectors.find(selector);
  if (found == group_.occupancy.selectors.end()) return nullptr;
  return axis ? &found->second.free[*axis] : &found->second.for_time;
}

// The part of what a selector was given that is on these machines, in 2^-60, times milliseconds.
const PoolFractions::Cumulated& PoolFractions::fraction(std::size_t axis, std::uint32_t selector) {
  const auto [found, is_new] = fractions_.try_emplace({axis, selector});
  Cumulated& out = found->second;
  if (!is_new) return out;
  const std::vector<Steps>* stage = stage_of(selector, axis);
  const std::uint64_t mine = stage != nullptr ? node_group_position(selector) : 0;
  for_each_moment(group_.free(axis), pointers_to(stage), [&](const Moment& moment) {
    UInt128 here = 0;
    for (const auto& [before, after] : moment.runs) here += after - before;
    UInt128 part = moment.whole == 0 ? 0 : (here << kPoolFractionBits) / moment.whole;
    out.constant = std::pair(here, UInt128{moment.whole});
    if (stage != nullptr) {
      UInt128 in_all = 0;
      for (const std::uint64_t level : moment.also) in_all += level;
      part = in_all == 0 ? 0 : multiply_divide(part, moment.also[mine], in_all).quotient;
    }
    out.add(moment.begin, part, moment.length_ms);
  });
  if (out.at.size() > 1 || stage != nullptr) out.constant.reset();
  return out;
}

// What is on these machines of a request of so many units, at every instant in whole units.
const PoolFractions::Cumulated& PoolFractions::units(std::uint32_t selector,
                                                     std::uint64_t requested) {
  const auto [found, is_new] = units_.try_emplace({selector, requested});
  Cumulated& out = found->second;
  if (!is_new) return out;
  const std::vector<Steps>* stage = stage_of(selector, std::nullopt);
  const std::uint64_t mine = stage != nullptr ? node_group_position(selector) : 0;
  for_each_moment(group_.for_time(), pointers_to(stage), [&](const Moment& moment) {
    std::uint64_t in_group = requested;
    if (stage != nullptr) {
      std::uint64_t in_all = 0, before = 0;
      for (std::size_t l = 0; l < moment.also.size(); ++l) {
        if (l == mine) before = in_all;
        in_all += moment.also[l];
      }
      const std::uint64_t after = before + moment.also[mine];
      in_group = in_all == 0
                     ? 0
                     : floor_part(requested, after, in_all) - floor_part(requested, before, in_all);
    }
    out.add(moment.begin, part_here(moment, in_group), moment.length_ms);
  });
  return out;
}

// The part of `units` in the node group that is on these machines, in whole units.
std::uint64_t PoolFractions::part_here(const Moment& moment, std::uint64_t units) {
  std::uint64_t here = 0;
  if (moment.whole == 0) return 0;
  for (const auto& [before, after] : moment.runs) {
    here += floor_part(units, after, moment.whole) - floor_part(units, before, moment.whole);
  }
  return here;
}

std::vector<UInt128> PoolFractions::given(std::size_t axis, std::span<const PoolHolder> holders) {
  CumulatedLevels& levels = group_.free(axis);
  std::vector<UInt128> amounts(holders.size());
  if (is_all(levels)) {
    for (std::size_t i = 0; i < holders.size(); ++i) amounts[i] = holders[i].given[axis];
    return amounts;
  }
  for (std::size_t i = 0; i < holders.size(); ++i) {
    for (const PoolShareInterval& stretch : holders[i].stretches[axis]) {
      amounts[i] += fraction(axis, stretch.selector).part_of(stretch);
    }
  }
  return amounts;
}

UInt128 PoolFractions::Cumulated::part_of(const PoolShareInterval& stretch) const {
  if (constant) {
    const auto& [here, whole] = *constant;
    return whole == 0 ? 0 : multiply_divide(stretch.amount, here, whole).quotient;
  }
  return multiply_divide(integral(stretch.during), stretch.amount,
                         UInt128{stretch.during.length_ms()} << kPoolFractionBits)
      .quotient;
}

PoolFractions::Time PoolFractions::requested(const PoolHolder& holder) {
  if (!all_for_time_) {
    all_for_time_ = is_all(group_.for_time());
    // Where no machine is, there is no time either.
    nowhere_ = zero_times(group_.occupancy.segment, group_.for_time().all());
  }
  UInt128 compute = 0, memory = 0;
  for (const PoolRequest& request : holder.requested) {
    if (*all_for_time_ && stage_of(request.selector, std::nullopt) == nullptr) {
      UInt128 present_ms = request.during.length_ms();
      for (const Interval& none : nowhere_) {
        if (const auto both = none.overlap(request.during)) present_ms -= both->length_ms();
      }
      compute += request.compute * present_ms;
      memory += request.memory_bytes * present_ms;
      continue;
    }
    compute += units(request.selector, request.compute).integral(request.during);
    memory += units(request.selector, request.memory_bytes).integral(request.during);
  }
  return {GpuTime::of(compute), MemoryTime::of(memory)};
}

UInt128 PoolFractions::unrequested() {
  CumulatedLevels& levels = group_.unrequested();
  const Steps none = {{group_.occupancy.segment.begin(), 0}};
  const Steps& all = group_.occupancy.node_groups[group_.node_group].taken[kCompute];
  const Steps* taken = all.empty() ? &none : &all;
  UInt128 total = 0;
  for_each_moment(levels, std::span(&taken, 1), [&](const Moment& moment) {
    std::uint64_t here = 0;
    for (const auto& [before, after] : moment.runs) here += after - before;
    here -= part_here(moment, std::min(moment.also[0], moment.whole));
    total += UInt128{here} * moment.length_ms;
  });
  return total;
}

}  // namespace pennyweight
