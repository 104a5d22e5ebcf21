#include "allocation/daily_sharing.h"

#include <algorithm>

#include "allocation/parallel.h"
#include "allocation/pool_sharing.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/try.h"

namespace pennyweight {
namespace {

std::vector<std::vector<ChargeSegment>> charges_by_segment(const ResolvedCharges& charges) {
  std::vector<std::vector<ChargeSegment>> here(charges.segments.size());
  for (std::uint32_t l = 0; l < charges.all.size(); ++l) {
    const auto& segments = charges.all[l].segments;
    for (std::uint32_t p = 0; p < segments.size(); ++p) {
      here[segments[p]].push_back({.charge = l, .position = p});
    }
  }
  return here;
}

}  // namespace

void TelemetryCounts::add(const ObservedUtilization& utilization) {
  samples += utilization.samples;
  clamped += utilization.clamped;
  unreliable += utilization.unreliable;
  copies += utilization.copies;
}

DailySharing::DailySharing(const AllocationInput& input, const ResolvedCharges& charges,
                           const AllocationContext& context, const Demands& demands)
    : input_(input),
      charges_(charges),
      context_(context),
      segments_(charges_by_segment(charges)),
      demands_(context.fleet.machines().size() + 1),
      by_charge_(charges.all.size()) {
  find_days();
  for (const Demand& demand : demands.all) {
    const bool in_pool = demand.machine == kNoIndex;
    (in_pool ? demands_.back() : demands_[demand.machine]).by_begin.push_back(&demand);
  }
  for_each_index(demands_.size(), input_.threads, [&](std::size_t machine) {
    auto& all = demands_[machine].by_begin;
    std::stable_sort(all.begin(), all.end(), [](const Demand* a, const Demand* b) {
      return a->during.begin() < b->during.begin();
    });
  });
}

Result<void> DailySharing::run(const Finish& finish) {
  for (const Day& day : days_) {
    ObservedUtilization utilization{.during = day.all, .series = {}, .placed = {}};
    if (input_.utilization) {
      auto loaded = TRY(input_.utilization(day.all));
      utilization = std::move(loaded);
      counts_.add(utilization);
    }
    share_day(day, UtilizationIndex(utilization, context_.fleet));
    utilization = {.during = day.all, .series = {}, .placed = {}};
    TRY(finish(charges_ending_on(day)));
  }
  return {};
}

// Segments ascend by their begin and none crosses midnight, so those of a day are adjacent.
void DailySharing::find_days() {
  const TimeZone& zone = input_.policy.time_zone;
  for (std::uint32_t s = 0; s < charges_.segments.size(); ++s) {
    const Instant begin = charges_.segments[s].begin();
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

void DailySharing::MachineDemands::advance(const Interval& day) {
  while (next < by_begin.size() && by_begin[next]->during.begin() < day.end()) {
    today.push_back(by_begin[next++]);
  }
  std::erase_if(today, [&](const Demand* demand) { return demand->during.end() <= day.begin(); });
  // Demands of one holding stay in the order of their begin: those of earlier days come first.
  std::stable_sort(today.begin(), today.end(),
                   [](const Demand* a, const Demand* b) { return a->holding < b->holding; });
}

void DailySharing::share_day(const Day& day, const UtilizationIndex& utilization) {
  for_each_index(demands_.size(), input_.threads,
                 [&](std::size_t machine) { demands_[machine].advance(day.all); });
  auto occupancies = occupy(day, utilization);
  share_segments(day, occupancies);
}

std::vector<Occupancy> DailySharing::occupy(const Day& day,
                                            const UtilizationIndex& utilization) const {
  constexpr std::size_t kBlock = 4;
  const auto segments = segments_of(day);
  const std::size_t machines = context_.fleet.machines().size();
  const std::size_t blocks = (machines + kBlock - 1) / kBlock;
  std::vector<Occupancy> occupancies;
  occupancies.reserve(segments.size());
  for (const Interval& segment : segments) {
    occupancies.push_back(
        {.segment = segment,
         .machines = std::vector<MachineOccupancy>(machines),
         .node_groups = std::vector<NodeGroupOccupancy>(context_.fleet.node_groups().size())});
  }
  const auto& in_pools = demands_.back().today;
  for_each_index(segments.size() * blocks, input_.threads, [&](std::size_t task) {
    const std::size_t s = task / blocks;
    const bool pool_takes = std::any_of(
        in_pools.begin(), in_pools.end(),
        [&](const Demand* demand) { return demand->during.overlap(segments[s]).has_value(); });
    const std::size_t first = task % blocks * kBlock;
    for (std::size_t m = first; m < std::min(machines, first + kBlock); ++m) {
      const auto cuts = place_demands(segments[s], demands_[m].today, context_, utilization);
      occupancies[s].machines[m] = machine_occupancy(segments[s], static_cast<std::uint32_t>(m),
                                                     cuts, context_, utilization, pool_takes);
    }
  });
  for_each_index(segments.size(), input_.threads, [&](std::size_t s) {
    share_pools(occupancies[s], place_demands(segments[s], in_pools, context_, utilization),
                context_);
  });
  return occupancies;
}

void DailySharing::share_segments(const Day& day, std::vector<Occupancy>& occupancies) {
  // Charges affect each other only through holders in a pool. Without these, any part of them can
  // be a task.
  struct Task {
    std::uint32_t segment;
    std::span<const ChargeSegment> charges;
  };
  constexpr std::size_t kChargesAtOnce = 16;
  std::vector<Task> parts;
  for (std::uint32_t s = day.begin; s < day.end; ++s) {
    const std::span<const ChargeSegment> all = segments_[s];
    const bool in_one = occupancies[s - day.begin].has_pool_holders;
    const std::size_t step = in_one ? all.size() : kChargesAtOnce;
    for (std::size_t first = 0; first < all.size(); first += step) {
      parts.push_back({s, all.subspan(first, std::min(step, all.size() - first))});
    }
  }
  std::vector<std::vector<WeightedShare>> shares(parts.size());
  for_each_index(parts.size(), input_.threads, [&](std::size_t p) {
    const auto& [segment, charges] = parts[p];
    shares[p] =
        compute_shares(segment, charges_, charges, occupancies[segment - day.begin], context_);
  });
  // A charge may have several segments in a day, so tasks don't write to the charges themselves.
  for (const auto& of_part : shares) {
    for (const WeightedShare& share : of_part) by_charge_[share.charge].push_back(share);
  }
}

std::vector<FinishedCharge> DailySharing::charges_ending_on(const Day& day) {
  std::vector<FinishedCharge> finished;
  for (std::uint32_t s = day.begin; s < day.end; ++s) {
    for (const ChargeSegment& at : segments_[s]) {
      if (at.position + 1 < charges_.all[at.charge].segments.size()) continue;
      auto shares = std::move(by_charge_[at.charge]);
      if (charges_.all[at.charge].is_posted) finished.push_back({at.charge, std::move(shares)});
    }
  }
  std::sort(finished.begin(), finished.end(),
            [](const FinishedCharge& a, const FinishedCharge& b) { return a.charge < b.charge; });
  return finished;
}

}  // namespace pennyweight
