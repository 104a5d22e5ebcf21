// The oracle's first half: who had how much of a machine, moment by moment.
#pragma once

#include <array>
#include <vector>

#include "world.h"

namespace pennyweight::sim {

// What the policy says of a holder on a node.
struct Rules {
  Basis basis;
  std::uint64_t compute, memory;  // weights, of one sum for all
};

// Of nobody in particular: nullptr.
Rules rules_for(const World& world, const Node& node, const Holding* holder);

struct Claimant {
  const Ask* ask;
  const Holding* holder;
  Interval during;  // within the stretch
  Rules rules;
  std::array<UInt128, kAxisCount> given{};
  std::array<UInt128, 2> used{};   // of given
  UInt128 idle = 0, observed = 0;  // of the compute asked for
};

struct Machine {
  std::vector<Claimant> claimants;  // seats first, in their order
  std::array<UInt128, kAxisCount> capacity{}, unavailable{};
  std::array<UInt128, 2> stranded{}, unbilled{};
};

// One machine over one stretch. Of the host, everybody on the machine has what they ask for; of the
// GPUs first whoever is on a seat, seat by seat, then whoever asked for the node as a whole.
Machine share_machine(const World& world, std::size_t index, const Interval& stretch);

}  // namespace pennyweight::sim
