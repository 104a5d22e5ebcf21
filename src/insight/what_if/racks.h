// Racks: which machines stand together, for jobs that need several.
#pragma once

#include <cstdint>
#include <string_view>

#include "insight/what_if/replay_world.h"

namespace pennyweight::what_if {

// Whether a name comes before another one, with numbers in them compared as numbers.
bool is_before_by_number(std::string_view a, std::string_view b);

// Racks of so many nodes, in the order of their names: node-9 comes before node-10. 0: none.
void set_racks(ReplayWorld& world, std::uint32_t rack_nodes);

}  // namespace pennyweight::what_if
