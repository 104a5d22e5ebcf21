// The axioms of a fair division, each on very many very small worlds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit.h"

namespace pennyweight::sim {

// One property: its name, and how many worlds it was held against.
struct PropertyCount {
  const char* name;
  std::uint64_t cases;
};

// Holds every property against the small world of a seed, and adds to the counts, which are empty
// at first or those of an earlier call.
Finding check_properties(std::uint64_t seed, std::vector<PropertyCount>& counts);

}  // namespace pennyweight::sim
