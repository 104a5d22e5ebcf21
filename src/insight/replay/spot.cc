#include "insight/replay/spot.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "insight/replay/seeded_random.h"

namespace pennyweight::replay {
namespace {

constexpr std::int64_t kReclaimHourUs = std::int64_t{3600} * 1'000'000;
// Apart from each other for neighbouring machines; any odd number serves.
constexpr std::uint64_t kSeedStep = 0x9e37'79b9'7f4a'7c15;

}  // namespace

std::vector<Reclaim> draw_reclaims(std::span<const Machine> machines, const Spot& spot) {
  std::vector<Reclaim> reclaims;
  if (spot.reclaimed_per_hour == 0) return reclaims;
  for (std::uint32_t machine = 0; machine < machines.size(); ++machine) {
    if (spot.models != 0 && ((spot.models >> machines[machine].model) & 1) == 0) continue;
    if (!spot.of_machine.empty() && !spot.of_machine[machine]) continue;
    SeededRandom random(spot.seed + kSeedStep * (machine + 1));
    for (std::int64_t hour = 0; hour < spot.until_us; hour += kReclaimHourUs) {
      if (random.below(kReclaimParts) >= spot.reclaimed_per_hour) continue;
      const std::int64_t at = hour + static_cast<std::int64_t>(
                                         random.below(static_cast<std::uint64_t>(kReclaimHourUs)));
      if (at < spot.until_us) reclaims.push_back({at, machine, spot.replaced_after_us, true});
    }
  }
  std::sort(reclaims.begin(), reclaims.end());
  return reclaims;
}

std::vector<Reclaim> all_reclaims(std::span<const Machine> machines, const Spot& spot) {
  const std::vector<Reclaim> drawn = draw_reclaims(machines, spot);
  std::vector<Reclaim> planned = spot.planned;
  std::sort(planned.begin(), planned.end());
  std::vector<Reclaim> all;
  std::map<std::uint32_t, std::size_t> away;  // by machine: the last that begins while it is there
  const auto add = [&](const Reclaim& one, bool is_planned) {
    const auto found = away.find(one.machine);
    const bool is_away =
        found != away.end() && one.at_us < all[found->second].at_us + all[found->second].away_us;
    if (is_away && is_planned) {
      Reclaim& last = all[found->second];
      last.away_us = std::max(last.away_us, one.at_us + one.away_us - last.at_us);
      last.if_on = last.if_on && one.if_on;
      return;
    }
    if (!is_away) away.insert_or_assign(one.machine, all.size());
    all.push_back(one);
  };
  auto next = planned.begin();
  for (const Reclaim& one : drawn) {
    while (next != planned.end() && *next < one) add(*next++, true);
    add(one, false);
  }
  while (next != planned.end()) add(*next++, true);
  return all;
}

}  // namespace pennyweight::replay
