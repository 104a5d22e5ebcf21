// WeightedShare: what one holder or idle bucket weighs in one component of one charge over one
// segment, before any money is divided.
//
// Segments are independent, so threads can work on them side by side. Money is divided once for
// each charge, over all of its shares.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocation/occupancy.h"
#include "allocation/resolved_charge.h"
#include "ledger/posting.h"

namespace pennyweight {

struct WeightedShare {
  std::uint32_t charge;  // index of ResolvedCharges::all
  Component component;
  std::uint32_t segment;
  PostingKind kind;
  std::uint32_t machine = kNoIndex;  // whose node the posting names; kNoIndex: the charge's own
                                     // node, if any
  std::uint32_t card = kNoIndex;
  std::uint32_t holding = kNoIndex;  // kNoIndex: a bucket
  Interval during;
  Weight weight = 0;
  GpuTime gpu_time;
  MemoryTime memory_time;
  GpuTime observed_time;
};

// A segment of a charge: the charge, and the position in ResolvedCharge::segments.
struct ChargeSegment {
  std::uint32_t charge;
  std::uint32_t position;
};

std::vector<WeightedShare> compute_shares(std::uint32_t segment, const ResolvedCharges& charges,
                                          std::span<const ChargeSegment> here,
                                          const Occupancy& occupancy,
                                          const AllocationContext& context);

}  // namespace pennyweight
