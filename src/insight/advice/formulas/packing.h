// Which workloads fit on one card together: first-fit decreasing of (activity, memory).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
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

// More share no GPU: each has to be switched to.
inline constexpr std::uint64_t kSharersMax = 8;

// Whether any so many loads that are not larger than this one fit on a card.
bool fits(const PackedLoad& load, std::uint64_t sharers);

// Cards that so many loads share, whichever they are: a scheduler knows no loads.
struct SharedPlan {
  std::uint64_t sharers = 0;
  std::uint64_t shared = 0;        // loads that share
  std::uint64_t alone = 0;         // loads with a card each, on other nodes
  std::uint64_t shared_nodes = 0;  // of the first
  std::uint64_t nodes = 0;         // of both
};
// `counts`: how many loads each piece of work has. REQUIRES: `loads` has each of them; neither
// number is 0.
SharedPlan plan_sharing(const std::map<std::string, std::uint64_t>& counts,
                        const std::map<std::string, PackedLoad>& loads, std::uint64_t sharers,
                        std::uint64_t cards_each);

}  // namespace pennyweight::advising
