#include "allocation/posting_order.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "allocation/holding_order.h"

namespace pennyweight {

void sort_in_run_order(std::span<Posting> postings, std::span<const Holding> holders) {
  std::map<FactId, const Holding*> by_id;
  for (const Holding& holding : holders) by_id.emplace(holding.id, &holding);
  const auto holder = [&](const Posting& posting) -> const Holding* {
    const auto at = posting.holding ? by_id.find(*posting.holding) : by_id.end();
    return at == by_id.end() ? nullptr : at->second;
  };
  const auto place = [](const Posting& posting, const Holding* held_by) {
    // A bucket, a posting of a given holder, a posting of another holder.
    const int rank = !posting.holding ? 0 : held_by != nullptr ? 1 : 2;
    return std::tuple(posting.component, posting.day, std::string_view(posting.node.text()),
                      std::string_view(posting.gpu.text()), posting.kind, rank);
  };
  std::ranges::stable_sort(postings, [&](const Posting& a, const Posting& b) {
    const Holding *of_a = holder(a), *of_b = holder(b);
    const auto place_a = place(a, of_a), place_b = place(b, of_b);
    if (place_a != place_b) return place_a < place_b;
    return of_a != nullptr && of_b != nullptr && comes_before(*of_a, *of_b);
  });
}

}  // namespace pennyweight
