#include "allocation/fill_machines.h"

#include <algorithm>

#include "core/check.h"

namespace pennyweight {

std::vector<MachineFill> fill_machines(std::span<const UInt128> room,
                                       std::span<const UInt128> amounts) {
  std::vector<MachineFill> filled;
  std::uint32_t machine = 0;
  UInt128 left = room.empty() ? 0 : room[0];
  for (std::uint32_t holder = 0; holder < amounts.size(); ++holder) {
    UInt128 wanted = amounts[holder];
    while (wanted > 0) {
      while (left == 0) {
        ++machine;
        CHECK(machine < room.size(), "the amounts must fit the room");
        left = room[machine];
      }
      const UInt128 here = std::min(wanted, left);
      filled.push_back({.machine = machine, .holder = holder, .amount = here});
      wanted -= here;
      left -= here;
    }
  }
  return filled;
}

}  // namespace pennyweight
