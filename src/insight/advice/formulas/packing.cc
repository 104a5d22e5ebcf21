#include "insight/advice/formulas/packing.h"

#include <algorithm>
#include <numeric>

namespace pennyweight::advising {

std::vector<std::size_t> pack_on_cards(std::span<const PackedLoad> loads) {
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t at) {
    return std::max(loads[at].activity_ppm, loads[at].memory_ppm);
  });
  std::vector<std::size_t> cards(loads.size());
  std::vector<PackedLoad> filled;
  for (const std::size_t at : order) {
    const PackedLoad& load = loads[at];
    std::size_t card = 0;
    while (card < filled.size() &&
           (filled[card].activity_ppm + load.activity_ppm > kSharedActivityPpm ||
            filled[card].memory_ppm + load.memory_ppm > kSharedMemoryPpm)) {
      ++card;
    }
    if (card == filled.size()) filled.emplace_back();
    filled[card].activity_ppm += load.activity_ppm;
    filled[card].memory_ppm += load.memory_ppm;
    cards[at] = card;
  }
  return cards;
}

bool fits(const PackedLoad& load, std::uint64_t sharers) {
  return load.activity_ppm * sharers <= kSharedActivityPpm &&
         load.memory_ppm * sharers <= kSharedMemoryPpm;
}

SharedPlan plan_sharing(const std::map<std::string, std::uint64_t>& counts,
                        const std::map<std::string, PackedLoad>& loads, std::uint64_t sharers,
                        std::uint64_t cards_each) {
  SharedPlan plan{.sharers = sharers};
  for (const auto& [work, count] : counts) {
    (fits(loads.at(work), sharers) ? plan.shared : plan.alone) += count;
  }
  const auto up = [](std::uint64_t amount, std::uint64_t each) {
    return (amount + each - 1) / each;
  };
  plan.shared_nodes = up(up(plan.shared, sharers), cards_each);
  plan.nodes = plan.shared_nodes + up(plan.alone, cards_each);
  return plan;
}

}  // namespace pennyweight::advising
