// SharedHoldings: finds which holdings share one device at which times.
//
//   claim        Pods that share one ResourceClaim (DRA) hold its devices together: at every moment
//                each has the same part; the first ones in order get the odd units.
//   reservation  KAI and Run:ai hold a GPU for their fractions by a pod of their own. While it
//   runs,
//                the fractions of its group are on its GPU. The pod itself requests nothing, or
//                the GPU would be paid for twice.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ledger/holding.h"

namespace pennyweight {

// A part of a holding's time in which the same others share with it.
struct SharingInterval {
  Interval during;
  std::uint32_t party = 0;  // its position among `parties`
  std::uint32_t parties = 1;
  const Holding* reserved = nullptr;  // the reservation whose GPU it is on

  // This holding's part of `units` that the parties hold together.
  std::uint64_t own_units(std::uint64_t units) const {
    return units / parties + (party < units % parties ? 1 : 0);
  }
};

class SharedHoldings {
 public:
  // REQUIRES: `holdings` are in the order of a run, and outlive this.
  explicit SharedHoldings(std::span<const Holding* const> holdings);

  // Whether the holding is a reservation pod.
  bool is_reservation(std::uint32_t holding) const;
  // The holding's time, cut wherever the set of sharing holdings changes; ascending, without gaps.
  std::vector<SharingInterval> sharing_intervals(std::uint32_t holding) const;

 private:
  std::vector<SharingInterval> split_by_claim(std::uint32_t holding,
                                              const std::vector<std::uint32_t>& sharers) const;
  std::vector<SharingInterval> split_by_reservation(
      const Holding& holding, const std::vector<std::uint32_t>& reservations) const;

  std::span<const Holding* const> holdings_;
  std::map<std::string, std::vector<std::uint32_t>> by_claim_;
  std::map<std::string, std::vector<std::uint32_t>> reservations_;  // by GPU group
};

}  // namespace pennyweight
