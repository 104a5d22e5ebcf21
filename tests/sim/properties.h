// The axioms of a fair division, each checked on very many very small worlds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit.h"

namespace pennyweight::sim {

// A property: its name, and on how many worlds it was checked.
struct PropertyCount {
  const char* name;
  std::uint64_t cases;
};

// Checks every property on the small world of a seed, and adds to the counts: empty at first, or
// those of an earlier call.
Finding check_properties(std::uint64_t seed, std::vector<PropertyCount>& counts);

}  // namespace pennyweight::sim
