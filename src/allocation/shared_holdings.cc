#include "allocation/shared_holdings.h"

#include <algorithm>
#include <set>

namespace pennyweight {

SharedHoldings::SharedHoldings(std::span<const Holding* const> holdings) : holdings_(holdings) {
  for (std::uint32_t i = 0; i < holdings.size(); ++i) {
    const Holding& holding = *holdings[i];
    if (!holding.claim.empty()) by_claim_[holding.claim].push_back(i);
    if (holding.is_reservation) reservations_[holding.gpu_group].push_back(i);
  }
}

bool SharedHoldings::is_reservation(std::uint32_t holding) const {
  return holdings_[holding]->is_reservation;
}

std::vector<SharingInterval> SharedHoldings::sharing_intervals(std::uint32_t index) const {
  const Holding& holding = *holdings_[index];
  if (!holding.claim.empty()) {
    const auto& sharers = by_claim_.at(holding.claim);
    if (sharers.size() > 1) return split_by_claim(index, sharers);
  }
  if (!holding.gpu_group.empty()) {
    const auto found = reservations_.find(holding.gpu_group);
    if (found != reservations_.end()) return split_by_reservation(holding, found->second);
  }
  return {{.during = holding.held}};
}

std::vector<SharingInterval> SharedHoldings::split_by_claim(
    std::uint32_t index, const std::vector<std::uint32_t>& sharers) const {
  const Interval& held = holdings_[index]->held;
  std::set<Instant> cuts = {held.begin(), held.end()};
  for (const std::uint32_t sharer : sharers) {
    const auto both = holdings_[sharer]->held.overlap(held);
    if (!both) continue;
    cuts.insert(both->begin());
    cuts.insert(both->end());
  }
  std::vector<SharingInterval> sharing_intervals;
  for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at) {
    SharingInterval sharing{.during = Interval(*at, *std::next(at)), .parties = 0};
    for (const std::uint32_t sharer : sharers) {
      if (!holdings_[sharer]->held.overlap(sharing.during)) continue;
      if (sharer == index) sharing.party = sharing.parties;
      ++sharing.parties;
    }
    sharing_intervals.push_back(sharing);
  }
  return sharing_intervals;
}

std::vector<SharingInterval> SharedHoldings::split_by_reservation(
    const Holding& holding, const std::vector<std::uint32_t>& reservations) const {
  std::vector<SharingInterval> sharing_intervals;
  Instant known_until = holding.held.begin();             // the end of the last interval
  for (const std::uint32_t reservation : reservations) {  // in the order of their begin
    const auto both = holdings_[reservation]->held.overlap(holding.held);
    if (!both || both->end() <= known_until) continue;
    const Instant begin = std::max(both->begin(), known_until);
    if (known_until < begin) sharing_intervals.push_back({.during = Interval(known_until, begin)});
    sharing_intervals.push_back(
        {.during = Interval(begin, both->end()), .reserved = holdings_[reservation]});
    known_until = both->end();
  }
  if (known_until < holding.held.end())
    sharing_intervals.push_back({.during = Interval(known_until, holding.held.end())});
  return sharing_intervals;
}

}  // namespace pennyweight
