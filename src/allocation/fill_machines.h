// fill_machines(): chooses which of several interchangeable machines each holder in a pool is
// charged for.
//
// A holder in a pool has a part of every free device. To post each holder on each machine would
// give machines × holders postings that say the same. So machines whose charges differ only in the
// machine's name are filled one after the other: each holder is charged its exact part of the
// group, each machine is charged exactly once, and there are at most machines + holders postings.
// This changes only the machine's name on a posting, never a holder's amount.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/split.h"

namespace pennyweight {

struct MachineFill {
  std::uint32_t machine;  // index into `room`
  std::uint32_t holder;   // index into `amounts`
  UInt128 amount;
};

// REQUIRES: the amounts add up to no more than the room.
// ENSURES:  each holder's fills add up to its amount, each machine's to no more than its room;
//           machines are full up to some point, and empty after it.
std::vector<MachineFill> fill_machines(std::span<const UInt128> room,
                                       std::span<const UInt128> amounts);

}  // namespace pennyweight
