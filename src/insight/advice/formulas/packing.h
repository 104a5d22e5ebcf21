// Which workloads fit on one card together: first-fit decreasing of (activity, memory).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pennyweight::advising {

// Shares of one card, in 10^-6: the 95th percentile of activity, the 99th of memory.
struct PackedLoad {
  std::uint64_t activity_ppm = 0;
  std::uint64_t memory_ppm = 0;
};

inline constexpr std::uint64_t kSharedActivityPpm = 800'000;
inline constexpr std::uint64_t kSharedMemoryPpm = 900'000;

// The card of each load, from 0; loads of one card are together at most 80 % active and fill 90 %
// of its memory, so that what interferes has room. A load beyond that has a card alone. Larger ones
// first, by the larger of their two shares; equal ones in their order.
std::vector<std::size_t> pack_on_cards(std::span<const PackedLoad> loads);

}  // namespace pennyweight::advising
