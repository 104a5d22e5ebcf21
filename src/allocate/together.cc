#include "allocate/together.h"

#include <algorithm>
#include <set>

namespace pennyweight {

Together::Together(std::span<const Holding* const> holdings) : holdings_(holdings) {
  for (std::uint32_t i = 0; i < holdings.size(); ++i) {
    const Holding& holding = *holdings[i];
    if (!holding.claim.empty()) by_claim_[holding.claim].push_back(i);
    if (holding.is_reservation) reservations_[holding.gpu_group].push_back(i);
  }
}

bool Together::is_only_reserving(std::uint32_t holding) const {
  return holdings_[holding]->is_reservation;
}

std::vector<Turn> Together::turns(std::uint32_t index) const {
  const Holding& holding = *holdings_[index];
  if (!holding.claim.empty()) {
    const auto& sharers = by_claim_.at(holding.claim);
    if (sharers.size() > 1) return turns_of_claim(index, sharers);
  }
  if (!holding.gpu_group.empty()) {
    const auto found = reservations_.find(holding.gpu_group);
    if (found != reservations_.end()) return turns_of_group(holding, found->second);
  }
  return {{.during = holding.held}};
}

std::vector<Turn> Together::turns_of_claim(std::uint32_t index,
                                           const std::vector<std::uint32_t>& sharers) const {
  const Interval& held = holdings_[index]->held;
  std::set<Instant> cuts = {held.begin(), held.end()};
  for (const std::uint32_t sharer : sharers) {
    const auto both = holdings_[sharer]->held.overlap(held);
    if (!both) continue;
    cuts.insert(both->begin());
    cuts.insert(both->end());
  }
  std::vector<Turn> turns;
  for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at) {
    Turn turn{.during = Interval(*at, *std::next(at)), .parties = 0};
    for (const std::uint32_t sharer : sharers) {
      if (!holdings_[sharer]->held.overlap(turn.during)) continue;
      if (sharer == index) turn.party = turn.parties;
      ++turn.parties;
    }
    turns.push_back(turn);
  }
  return turns;
}

std::vector<Turn> Together::turns_of_group(const Holding& holding,
                                           const std::vector<std::uint32_t>& reservations) const {
  std::vector<Turn> turns;
  Instant told = holding.held.begin();                    // up to here its turns are known
  for (const std::uint32_t reservation : reservations) {  // by their begin
    const auto both = holdings_[reservation]->held.overlap(holding.held);
    if (!both || both->end() <= told) continue;
    const Instant begin = std::max(both->begin(), told);
    if (told < begin) turns.push_back({.during = Interval(told, begin)});
    turns.push_back({.during = Interval(begin, both->end()), .reserved = holdings_[reservation]});
    told = both->end();
  }
  if (told < holding.held.end()) turns.push_back({.during = Interval(told, holding.held.end())});
  return turns;
}

}  // namespace pennyweight
