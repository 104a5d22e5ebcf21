// Grains: the tables of the rollup, each the same sums, kept by something else.
//
// A question is answered from the smallest grain that has what it asks for. `all_day` has
// everything but single bill lines; the others are sums of it, so that the usual questions read
// thousands of rows and not millions. Times are days, or months, since 1970.
#pragma once

#include <array>
#include <cstdint>

namespace pennyweight::rollup {

struct Grain {
  const char* table;
  bool by_day;     // else by calendar month of the day
  bool has_facet;  // all of it, not only its lean dimensions
  bool has_place;
  bool has_workload;
  bool has_sets;
  bool has_value;  // of one dimension at a time
};

inline constexpr std::array kGrains = {
    Grain{"facet_day", true, true, false, false, false, false},
    Grain{"facet_month", false, true, false, false, false, false},
    Grain{"value_day", true, false, false, false, false, true},
    Grain{"value_month", false, false, false, false, false, true},
    Grain{"set_month", false, false, false, false, true, false},
    Grain{"place_day", true, true, true, false, false, false},
    Grain{"place_month", false, true, true, false, false, false},
    Grain{"all_month", false, true, true, true, true, false},
    Grain{"all_day", true, true, true, true, true, false},
};

// What is summed. Costs but the effective one are kept as what they are more than it: mostly
// nothing, which takes no room and no time to read.
inline constexpr const char* kSums[] = {"effective", "billed", "list",   "contracted",
                                        "held",      "idle",   "memory", "observed"};
inline constexpr std::uint64_t kSumCount = std::size(kSums);
inline constexpr std::size_t kHeld = 4, kIdle = 5, kMemory = 6, kObserved = 7;

}  // namespace pennyweight::rollup
