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

std::vector<UInt128> scale_amounts(std::span<const UInt128> amounts, UInt128 part, UInt128 whole) {
  CHECK(whole > 0 && part <= whole, "a part of a whole");
  std::vector<UInt128> parts(amounts.size());
  UInt128 cumulated = 0, before = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    cumulated += amounts[i];
    const UInt128 upto = multiply_divide(cumulated, part, whole).quotient;
    parts[i] = upto - before;
    before = upto;
  }
  return parts;
}

}  // namespace pennyweight
