#include "insight/advice/portfolio.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "core/int128.h"

namespace pennyweight::advising {
namespace {

// Which proposals exclude each other, by their indices.
std::vector<std::vector<std::size_t>> find_conflicts(std::span<const Proposal> proposals) {
  std::map<std::string_view, std::vector<std::size_t>> sets;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    if (!proposals[i].alternatives_of.empty()) sets[proposals[i].alternatives_of].push_back(i);
  }
  std::vector<std::vector<std::size_t>> conflicts(proposals.size());
  const auto exclude = [&](std::size_t i, std::string_view set) {
    const auto others = sets.find(set);
    if (others == sets.end()) return;
    for (const std::size_t other : others->second) {
      if (other == i) continue;
      conflicts[i].push_back(other);
      conflicts[other].push_back(i);
    }
  };
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    exclude(i, proposals[i].alternatives_of);
    for (const std::string& set : proposals[i].conflicts_with) exclude(i, set);
  }
  for (std::vector<std::size_t>& each : conflicts) {
    std::ranges::sort(each);
    each.erase(std::unique(each.begin(), each.end()), each.end());
  }
  return conflicts;
}

class ConflictSearch {
 public:
  ConflictSearch(std::span<const Proposal> proposals)
      : proposals_(proposals), conflicts_(find_conflicts(proposals)), seen_(proposals.size()) {}

  std::vector<bool> run() {
    std::vector<bool> chosen(proposals_.size());
    for (std::size_t i = 0; i < proposals_.size(); ++i) {
      if (seen_[i]) continue;
      const std::vector<std::size_t> group = connected(i);
      const std::vector<std::size_t> best =
          group.size() <= kExactConflicts ? best_of_few(group) : best_of_many(group);
      for (const std::size_t each : best) chosen[each] = true;
    }
    return chosen;
  }

 private:
  Int128 saving(std::size_t i) const { return proposals_[i].monthly.expected.ticks(); }
  Int128 sum(const std::vector<std::size_t>& chosen) const {
    Int128 total = 0;
    for (const std::size_t each : chosen) total += saving(each);
    return total;
  }

  // All that exclude it, directly or through others; sorted.
  std::vector<std::size_t> connected(std::size_t first) {
    std::vector<std::size_t> group = {first};
    seen_[first] = true;
    for (std::size_t at = 0; at < group.size(); ++at) {
      for (const std::size_t other : conflicts_[group[at]]) {
        if (seen_[other]) continue;
        seen_[other] = true;
        group.push_back(other);
      }
    }
    std::ranges::sort(group);
    return group;
  }

  bool excludes(std::size_t i, std::size_t other) const {
    return std::ranges::binary_search(conflicts_[i], other);
  }

  std::vector<std::size_t> best_of_few(const std::vector<std::size_t>& group) const {
    std::vector<std::size_t> best;
    std::vector<std::size_t> chosen;
    bool is_found = false;
    Int128 best_sum = 0;
    const auto search = [&](const auto& self, std::size_t at) -> void {
      if (at == group.size()) {
        const Int128 total = sum(chosen);
        const bool is_better =
            !is_found || total > best_sum || (total == best_sum && chosen.size() > best.size());
        if (is_better) {
          best = chosen;
          best_sum = total;
          is_found = true;
        }
        return;
      }
      const bool is_free = std::ranges::none_of(
          chosen, [&](std::size_t other) { return excludes(group[at], other); });
      if (is_free) {
        chosen.push_back(group[at]);
        self(self, at + 1);
        chosen.pop_back();
      }
      self(self, at + 1);
    };
    search(search, 0);
    return best;
  }

  // Those that come first in `order`, without one set of alternatives.
  std::vector<std::size_t> greedy(const std::vector<std::size_t>& order,
                                  std::string_view without) const {
    std::vector<bool> excluded(proposals_.size());
    std::vector<std::size_t> chosen;
    for (const std::size_t each : order) {
      if (excluded[each]) continue;
      if (!without.empty() && proposals_[each].alternatives_of == without) continue;
      chosen.push_back(each);
      for (const std::size_t other : conflicts_[each]) excluded[other] = true;
    }
    return chosen;
  }

  std::vector<std::size_t> best_of_many(const std::vector<std::size_t>& group) const {
    std::vector<std::size_t> order = group;
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t i) { return saving(i); });
    std::vector<std::size_t> best = greedy(order, {});
    // Leaving out what excludes most frees most.
    std::vector<std::size_t> tried;
    for (const std::size_t each : best) {
      if (conflicts_[each].size() > 1) tried.push_back(each);
    }
    std::ranges::stable_sort(tried, std::ranges::greater(),
                             [&](std::size_t i) { return conflicts_[i].size(); });
    tried.resize(std::min(tried.size(), kSetsTried));
    for (const std::size_t each : tried) {
      std::vector<std::size_t> other = greedy(order, proposals_[each].alternatives_of);
      if (sum(other) > sum(best)) best = std::move(other);
    }
    return best;
  }

  std::span<const Proposal> proposals_;
  std::vector<std::vector<std::size_t>> conflicts_;
  std::vector<bool> seen_;
};

}  // namespace

Portfolio combine(std::span<const Proposal> proposals) {
  Portfolio portfolio;
  portfolio.chosen = ConflictSearch(proposals).run();
  std::map<Currency, MonthlySaving> sums;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    if (!portfolio.chosen[i]) continue;
    const MonthlySaving& each = proposals[i].monthly;
    const Money none = Money::zero(each.expected.currency());
    MonthlySaving& sum =
        sums.try_emplace(none.currency(), MonthlySaving{none, none, none}).first->second;
    sum.low += each.low;
    sum.expected += each.expected;
    sum.high += each.high;
  }
  for (const auto& [currency, sum] : sums) portfolio.totals.push_back(sum);
  return portfolio;
}

}  // namespace pennyweight::advising
