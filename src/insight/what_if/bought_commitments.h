// Commitments that a scenario buys: what they cost, what they cover, and what of them is unused.
//
// They cover usage on demand hour by hour, as providers count it: of each hour so much of the
// nodes' time, or of their price on demand, as was bought, in the order of the nodes' names. An
// hour of a node is covered once, with all lines that it has. What is covered of a line becomes a
// line of its own over the same period. The cost of a commitment is divided among what it covered
// and its unused part, so that they add up to it exactly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/money.h"
#include "insight/compare/fleet_view.h"
#include "insight/compare/policy_costs.h"
#include "insight/what_if/scenario.h"
#include "ledger/charge.h"

namespace pennyweight::what_if {

struct BoughtCommitment {
  std::string id;                      // as its lines have it
  std::string text;                    // as it was asked for
  std::string source;                  // of a list price; else empty
  Interval during;                     // of the period
  Money per_hour = Money::zero(kUsd);  // of all of it
  Money cost = Money::zero(kUsd);      // in the period: used and unused
  Money unused = Money::zero(kUsd);
  Money replaced = Money::zero(kUsd);   // what the covered usage would cost on demand
  Money term_cost = Money::zero(kUsd);  // of the whole term; zero: it was not said
};

struct BoughtCommitments {
  std::vector<Charge> charges;
  std::vector<BoughtCommitment> commitments;
};

// Usage that is spot, or that a commitment covers already, is left alone; of several commitments
// the later ones cover what is left. kConfig: one covers nothing. kUnsupported: nodes are charged
// in several currencies.
Result<BoughtCommitments> buy_commitments(std::vector<Charge> charges, const ClusterMonth& month,
                                          const FleetView& fleet, const Interval& period,
                                          const Scenario& scenario, const StopCheck& is_stopped);

}  // namespace pennyweight::what_if
