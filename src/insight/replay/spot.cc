#include "insight/replay/spot.h"

#include <algorithm>

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
      if (at < spot.until_us) reclaims.push_back({at, machine, spot.replaced_after_us});
    }
  }
  std::sort(reclaims.begin(), reclaims.end());
  return reclaims;
}

std::vector<Reclaim> all_reclaims(std::span<const Machine> machines, const Spot& spot) {
  std::vector<Reclaim> reclaims = draw_reclaims(machines, spot);
  reclaims.insert(reclaims.end(), spot.planned.begin(), spot.planned.end());
  std::sort(reclaims.begin(), reclaims.end());
  return reclaims;
}

}  // namespace pennyweight::replay
