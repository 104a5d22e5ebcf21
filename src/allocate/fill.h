// fill(): which of several interchangeable machines the holders in a pool are charged for.
//
// A holder in a pool has a part of every free device. Posting each holder on each machine would
// give machines x holders postings that all say the same, so machines whose lines are the same but
// for the machine's name are filled one after the other, holder after holder: each holder is
// charged its exact part of the group, each machine is charged exactly once, and there are only
// machines + holders postings. Amounts per holder do not depend on it; only the name of the machine
// on a posting does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/split.h"

namespace pennyweight {

struct Filled {
  std::uint32_t machine;  // index into `room`
  std::uint32_t holder;   // index into `amounts`
  UInt128 amount;
};

// REQUIRES: the amounts add up to no more than the room.
// ENSURES:  the amounts of each holder add up to what was asked, those of each machine to no more
//           than its room; machines are full up to some point, and empty behind it.
std::vector<Filled> fill(std::span<const UInt128> room, std::span<const UInt128> amounts);

// Parts of each amount in the ratio part/whole, each in whole units, adding up to the floor of all
// of them times the ratio. REQUIRES: part <= whole, whole > 0.
std::vector<UInt128> scaled(std::span<const UInt128> amounts, UInt128 part, UInt128 whole);

}  // namespace pennyweight
