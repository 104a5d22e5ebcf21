// Together: holdings that share what one of them, or a claim, holds.
//
//   claim        Pods that share one ResourceClaim (DRA) hold its devices together: at every moment
//                each has the same part, the first by order the odd units.
//   reservation  KAI and Run:ai hold a card for their fractions by a pod of their own. While it
//                does, the fractions of its group are on its card; it asks for nothing itself, or
//                the card would be paid for twice.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ledger/holding.h"

namespace pennyweight {

// A part of a holding's time in which the same others share with it.
struct Turn {
  Interval during;
  std::uint32_t party = 0;  // which of `parties` it is
  std::uint32_t parties = 1;
  const Holding* reserved = nullptr;  // the reservation on whose card it is

  // Its part of what they hold together.
  std::uint64_t mine(std::uint64_t units) const {
    return units / parties + (party < units % parties ? 1 : 0);
  }
};

class Together {
 public:
  // REQUIRES: `holdings` in the order of a run; they outlive this.
  explicit Together(std::span<const Holding* const> holdings);

  // A reservation pod.
  bool is_only_reserving(std::uint32_t holding) const;
  // The holding's time, cut where those with whom it shares change; ascending, without gaps.
  std::vector<Turn> turns(std::uint32_t holding) const;

 private:
  std::vector<Turn> turns_of_claim(std::uint32_t holding,
                                   const std::vector<std::uint32_t>& sharers) const;
  std::vector<Turn> turns_of_group(const Holding& holding,
                                   const std::vector<std::uint32_t>& reservations) const;

  std::span<const Holding* const> holdings_;
  std::map<std::string, std::vector<std::uint32_t>> by_claim_;
  std::map<std::string, std::vector<std::uint32_t>> reservations_;  // by GPU group
};

}  // namespace pennyweight
