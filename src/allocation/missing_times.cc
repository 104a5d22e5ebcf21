#include "allocation/missing_times.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace pennyweight {

std::vector<MissingTime> missing_times(const Fleet& fleet, const GpuId& named,
                                       const Interval& held) {
  std::vector<MissingTime> known;
  for (const std::uint32_t card : fleet.cards_named(named)) {
    const auto& present = fleet.cards()[card].present;
    const auto during = present ? present->overlap(held) : std::nullopt;
    if (during) known.push_back({card, *during});
  }
  if (known.empty()) return {};
  std::ranges::sort(known, [](const MissingTime& a, const MissingTime& b) {
    return std::tie(a.during, a.card) < std::tie(b.during, b.card);
  });
  std::vector<MissingTime> missing;
  std::uint32_t nearest = known.front().card;
  Instant reached = held.begin();
  for (const MissingTime& each : known) {
    if (const auto gap = Interval::of(reached, each.during.begin())) {
      missing.push_back({nearest, *gap});
    }
    if (each.during.end() <= reached) continue;
    nearest = each.card;
    reached = each.during.end();
  }
  if (const auto gap = Interval::of(reached, held.end())) missing.push_back({nearest, *gap});
  return missing;
}

}  // namespace pennyweight
