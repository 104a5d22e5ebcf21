// The oracle's first half: who had how much of a machine, moment by moment.
#pragma once

#include <array>
#include <vector>

#include "world.h"

namespace pennyweight::sim {

// The policy's rules for a holder on a node.
struct Rules {
  Basis basis;
  std::uint64_t compute, memory;  // weights; all have the same sum
};

// nullptr: for idle capacity.
Rules rules_for(const World& world, const Node& node, const Holding* holder);

struct Claimant {
  const TrueRequest* ask;
  const Holding* holder;
  Interval during;  // within the time segment
  Rules rules;
  std::array<UInt128, kAxisCount> given{};
  std::array<UInt128, 2> used{};   // of given
  UInt128 idle = 0, observed = 0;  // of the requested compute
  UInt128 weight_cut = 0;          // where holders of a GPU weigh more than it, moment by moment
};

// Compute that nobody requested, by what came of it, moment by moment.
struct IdleCompute {
  UInt128 unavailable = 0, stranded = 0, free = 0;
};

struct Machine {
  std::vector<Claimant> claimants;  // seats first, in their order
  std::array<UInt128, kAxisCount> capacity{}, unavailable{};
  std::array<UInt128, 2> stranded{}, unbilled{};
  IdleCompute idle;
};

// Divides one machine over one time segment. Of the host, every holder has what it requests. Of the
// GPUs, holders on seats come first, seat by seat, then holders of the node as a whole.
Machine share_machine(const World& world, std::size_t index, const Interval& segment);

}  // namespace pennyweight::sim
