// Share: one holder's part of one component of one line over one stretch, before money.
//
// A stretch is turned into shares by itself, so stretches can be worked on by many threads; the
// lines are then split once, over all their shares.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocate/line.h"
#include "allocate/occupancy.h"
#include "ledger/posting.h"

namespace pennyweight {

struct Share {
  std::uint32_t line;  // index of Lines::all
  Component component;
  std::uint32_t stretch;
  PostingKind kind;
  std::uint32_t machine = kNone;  // whose node it names; kNone: the line's own, if any
  std::uint32_t card = kNone;
  std::uint32_t holding = kNone;  // kNone: a bucket
  Interval during;
  Weight weight = 0;
  GpuTime gpu_time;
  MemoryTime memory_time;
  GpuTime observed_time;
};

// The lines that have a stretch, each with the position of it among the line's stretches.
struct LineStretch {
  std::uint32_t line;
  std::uint32_t position;
};

std::vector<Share> shares_of(std::uint32_t stretch, const Lines& lines,
                             std::span<const LineStretch> here, const Occupancy& occupancy,
                             const Surroundings& around);

}  // namespace pennyweight
