// Demand: what a holding asks for and where, in the fleet's own terms.
//
// Resolved once for a run, so that each stretch of time only has to cut it. Claims (DRA) are
// divided here, moment by moment, among the holdings that share them; fractions of a reserved card
// (KAI) are put on the card that their reservation pod holds, and the reservation itself asks for
// nothing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "allocate/fleet_index.h"
#include "ledger/holding.h"

namespace pennyweight {

struct Demand {
  std::uint32_t holding;
  enum class Level { kSeat, kMachine, kPool } level;
  std::uint32_t target;   // a seat, a machine, or an index of selectors
  std::uint32_t machine;  // kSeat: whose card it is
  Interval during;        // the holding's, within the target's presence
  AxisUnits units{};
  std::uint32_t devices = 1;           // kMachine, kPool: that `units` are of
  std::uint64_t gpu_memory_bytes = 0;  // of one card of the target; 0: not known
};

// Any of these leaves, ascending.
using Selector = std::vector<std::uint32_t>;

struct Demands {
  std::vector<Demand> all;                        // by holding
  std::vector<Selector> selectors;                // narrower first
  std::map<std::string, std::uint64_t> problems;  // what could not be placed, with its count
};

// `Demand::holding` is an index of `holdings`.
Demands resolve(std::span<const Holding* const> holdings, const Fleet& fleet, unsigned threads);

}  // namespace pennyweight
