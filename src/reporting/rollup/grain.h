// Grains: the tables of the rollup, which hold the same sums grouped differently.
//
// A query is answered from the smallest grain that can. `all_day` has everything but single bill
// lines; the others are sums of it, so that common queries read thousands of rows and not millions.
// Times are days, or months, since 1970.
#pragma once

#include <array>
#include <cstdint>

namespace pennyweight::rollup {

struct Grain {
  const char* table;
  bool by_day;     // else by calendar month
  bool has_facet;  // all dimensions, not only the lean ones
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

// What is summed. Costs other than the effective one are stored as differences from it: mostly 0,
// which compresses well and is fast to read.
inline constexpr const char* kSums[] = {"effective", "billed", "list",   "contracted",
                                        "held",      "idle",   "memory", "observed"};
inline constexpr std::uint64_t kSumCount = std::size(kSums);
inline constexpr std::size_t kHeld = 4, kIdle = 5, kMemory = 6, kObserved = 7;

}  // namespace pennyweight::rollup
