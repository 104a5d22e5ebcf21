// What part of a GPU each device is, copied by hand from the vendors' tables: the truth that the
// engine's own tables are checked against.
#pragma once

#include <cstdint>
#include <vector>

#include "ledger/holding.h"
#include "ledger/node.h"

namespace pennyweight::sim {

struct Profile {
  const char* name;
  std::uint64_t compute, memory;  // slices
};
struct Layout {
  std::vector<std::size_t> profiles;                        // by index
  std::uint64_t stranded_compute = 0, stranded_memory = 0;  // slices that nothing more can use
  bool is_watched = true;
};
struct Model {
  const char* name;
  std::uint64_t memory_gib;
  std::uint64_t compute_slices, memory_slices;  // 0: no MIG
  std::vector<Profile> profiles;
  std::vector<Layout> layouts;
};

// The models that worlds are made of.
const std::vector<Model>& models();

struct CardUnits {
  std::uint64_t compute, memory;
};

// One device on a node, in units of a whole GPU.
CardUnits true_units(const Device& device, const Node& node);

}  // namespace pennyweight::sim
