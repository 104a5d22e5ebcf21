#include "allocate/days.h"

#include <algorithm>

#include "allocate/parallel.h"
#include "core/billing_period.h"
#include "core/check.h"

namespace pennyweight {
namespace {

std::vector<std::vector<LineStretch>> lines_by_stretch(const Lines& lines) {
  std::vector<std::vector<LineStretch>> here(lines.stretches.size());
  for (std::uint32_t l = 0; l < lines.all.size(); ++l) {
    const auto& stretches = lines.all[l].stretches;
    for (std::uint32_t p = 0; p < stretches.size(); ++p) {
      here[stretches[p]].push_back({.line = l, .position = p});
    }
  }
  return here;
}

}  // namespace

void SeenCounts::add(const SeenUsage& seen) {
  samples += seen.samples;
  clamped += seen.clamped;
  unreliable += seen.unreliable;
  copies += seen.copies;
}

Days::Days(const AllocationInput& input, const Lines& lines, const Surroundings& around,
           const Demands& demands)
    : input_(input),
      lines_(lines),
      around_(around),
      here_(lines_by_stretch(lines)),
      demands_(around.fleet.machines().size() + 1),
      by_line_(lines.all.size()) {
  find_days();
  for (const Demand& demand : demands.all) {
    const bool in_pool = demand.machine == kNone;
    (in_pool ? demands_.back() : demands_[demand.machine]).by_begin.push_back(&demand);
  }
  for_each_index(demands_.size(), input_.threads, [&](std::size_t machine) {
    auto& all = demands_[machine].by_begin;
    std::stable_sort(all.begin(), all.end(), [](const Demand* a, const Demand* b) {
      return a->during.begin() < b->during.begin();
    });
  });
}

Result<void> Days::run(const Finish& finish) {
  for (const Day& day : days_) {
    SeenUsage seen{.during = day.all, .series = {}, .placed = {}};
    if (input_.seen) {
      auto loaded = input_.seen(day.all);
      if (!loaded) return std::unexpected(loaded.error());
      seen = std::move(*loaded);
      counts_.add(seen);
    }
    share_day(day, SeenIndex(seen, around_.fleet));
    seen = {.during = day.all, .series = {}, .placed = {}};
    if (auto ok = finish(lines_ending_on(day)); !ok) return ok;
  }
  return {};
}

// Stretches ascend by their begin and none crosses midnight, so those of a day stand together.
void Days::find_days() {
  const TimeZone& zone = input_.policy.time_zone;
  for (std::uint32_t s = 0; s < lines_.stretches.size(); ++s) {
    const Instant begin = lines_.stretches[s].begin();
    if (days_.empty() || !days_.back().all.contains(begin)) {
      days_.push_back({s, s, day_of(begin, zone)});
      const auto date = parse_instant(local_date(begin, zone));
      CHECK(date.has_value(), "a local date reads back");
      dates_.push_back(std::chrono::floor<std::chrono::days>(*date));
    } else {
      dates_.push_back(dates_.back());
    }
    days_.back().end = s + 1;
  }
}

void Days::MachineDemands::advance(const Interval& day) {
  while (next < by_begin.size() && by_begin[next]->during.begin() < day.end()) {
    today.push_back(by_begin[next++]);
  }
  std::erase_if(today, [&](const Demand* demand) { return demand->during.end() <= day.begin(); });
  // Of one holding they stay by their begin: those that were there before come first.
  std::stable_sort(today.begin(), today.end(),
                   [](const Demand* a, const Demand* b) { return a->holding < b->holding; });
}

void Days::share_day(const Day& day, const SeenIndex& seen) {
  for_each_index(demands_.size(), input_.threads,
                 [&](std::size_t machine) { demands_[machine].advance(day.all); });
  auto occupancies = occupy(day, seen);
  share_stretches(day, occupancies);
}

std::vector<Occupancy> Days::occupy(const Day& day, const SeenIndex& seen) const {
  constexpr std::size_t kBlock = 4;
  const auto stretches = stretches_of(day);
  const std::size_t machines = around_.fleet.machines().size();
  const std::size_t blocks = (machines + kBlock - 1) / kBlock;
  std::vector<Occupancy> occupancies;
  occupancies.reserve(stretches.size());
  for (const Interval& stretch : stretches) {
    occupancies.push_back({.stretch = stretch,
                           .machines = std::vector<MachineOccupancy>(machines),
                           .leaves = std::vector<LeafOccupancy>(around_.fleet.leaves().size()),
                           .pool_gpu_time = {},
                           .pool_memory_time = {}});
  }
  const auto& in_pools = demands_.back().today;
  for_each_index(stretches.size() * blocks, input_.threads, [&](std::size_t task) {
    const std::size_t s = task / blocks;
    const bool pool_takes = std::any_of(
        in_pools.begin(), in_pools.end(),
        [&](const Demand* demand) { return demand->during.overlap(stretches[s]).has_value(); });
    const std::size_t first = task % blocks * kBlock;
    for (std::size_t m = first; m < std::min(machines, first + kBlock); ++m) {
      const auto cuts = cuts_of(stretches[s], demands_[m].today, around_, seen);
      occupancies[s].machines[m] = machine_occupancy(stretches[s], static_cast<std::uint32_t>(m),
                                                     cuts, around_, seen, pool_takes);
    }
  });
  for_each_index(stretches.size(), input_.threads, [&](std::size_t s) {
    share_pools(occupancies[s], cuts_of(stretches[s], in_pools, around_, seen), around_);
  });
  return occupancies;
}

void Days::share_stretches(const Day& day, std::vector<Occupancy>& occupancies) {
  // Lines meet in holders that are in a pool; without these any part of them can be worked on by
  // itself. A line has one stretch in a day, so no two tasks add to the same line.
  struct Part {
    std::uint32_t stretch;
    std::span<const LineStretch> lines;
  };
  constexpr std::size_t kLines = 16;
  std::vector<Part> parts;
  for (std::uint32_t s = day.begin; s < day.end; ++s) {
    const std::span<const LineStretch> all = here_[s];
    const bool in_one = !occupancies[s - day.begin].pool_gpu_time.empty();
    const std::size_t step = in_one ? all.size() : kLines;
    for (std::size_t first = 0; first < all.size(); first += step) {
      parts.push_back({s, all.subspan(first, std::min(step, all.size() - first))});
    }
  }
  for_each_index(parts.size(), input_.threads, [&](std::size_t p) {
    const auto& [stretch, lines] = parts[p];
    const Occupancy& occupancy = occupancies[stretch - day.begin];
    for (const Share& share : shares_of(stretch, lines_, lines, occupancy, around_)) {
      by_line_[share.line].push_back(share);
    }
  });
}

std::vector<FinishedLine> Days::lines_ending_on(const Day& day) {
  std::vector<FinishedLine> finished;
  for (std::uint32_t s = day.begin; s < day.end; ++s) {
    for (const LineStretch& at : here_[s]) {
      if (at.position + 1 < lines_.all[at.line].stretches.size()) continue;
      auto shares = std::move(by_line_[at.line]);
      if (lines_.all[at.line].is_posted) finished.push_back({at.line, std::move(shares)});
    }
  }
  std::sort(finished.begin(), finished.end(),
            [](const FinishedLine& a, const FinishedLine& b) { return a.line < b.line; });
  return finished;
}

}  // namespace pennyweight
