// How the numbers of many usages become one: what each of kUsageNumbers is of, and how it is
// combined over time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "ledger/usage.h"

namespace pennyweight {

enum class UsageCombining : std::uint8_t {
  kMean,   // weighted by time
  kMost,   // the largest
  kSum,    // what happened in each span, added up
  kLast,   // the last that is not 0
  kNever,  // a counter since the driver was loaded says nothing of a time
};

struct UsageSummaryRule {
  UsageNumber::Field field;
  UsageCombining combining;
  // Whether each MIG instance of a card has its own; else it is of the whole card, whichever row
  // says it.
  bool is_of_instance = false;
  // Whether it tells of something that went wrong, and so belongs to events.
  bool is_of_event = false;
};

// One for each of kUsageNumbers, in their order.
inline constexpr std::array kUsageSummaryRules = {
    UsageSummaryRule{&Usage::gpu_util_ppm, UsageCombining::kMean, true},
    UsageSummaryRule{&Usage::engine_active_ppm, UsageCombining::kMean, true},
    UsageSummaryRule{&Usage::sm_active_ppm, UsageCombining::kMean, true},
    UsageSummaryRule{&Usage::memory_used_bytes, UsageCombining::kMean, true},
    UsageSummaryRule{&Usage::memory_total_bytes, UsageCombining::kMost, true},
    UsageSummaryRule{&Usage::power_milliwatts, UsageCombining::kMean},
    UsageSummaryRule{&Usage::energy_millijoules, UsageCombining::kNever},
    UsageSummaryRule{&Usage::tensor_active_ppm, UsageCombining::kMean, true},
    UsageSummaryRule{&Usage::dram_active_ppm, UsageCombining::kMean, true},
    UsageSummaryRule{&Usage::memory_reserved_bytes, UsageCombining::kMean, true},
    UsageSummaryRule{&Usage::temperature_celsius, UsageCombining::kMean},
    UsageSummaryRule{&Usage::sm_clock_mhz, UsageCombining::kMean},
    UsageSummaryRule{&Usage::pcie_bytes_per_second, UsageCombining::kMean},
    UsageSummaryRule{&Usage::nvlink_bytes_per_second, UsageCombining::kMean},
    UsageSummaryRule{&Usage::energy_used_millijoules, UsageCombining::kSum},
    UsageSummaryRule{&Usage::activity_max_ppm, UsageCombining::kMost, true},
    UsageSummaryRule{&Usage::memory_used_max_bytes, UsageCombining::kMost, true},
    UsageSummaryRule{&Usage::power_max_milliwatts, UsageCombining::kMost},
    UsageSummaryRule{&Usage::throttled_ms, UsageCombining::kSum, false, true},
    UsageSummaryRule{&Usage::xid_errors, UsageCombining::kSum, false, true},
    UsageSummaryRule{&Usage::last_xid, UsageCombining::kLast, false, true},
    UsageSummaryRule{&Usage::ecc_errors, UsageCombining::kSum, false, true},
};

// A new number says here how it is combined.
static_assert(std::ranges::equal(kUsageSummaryRules, kUsageNumbers, {}, &UsageSummaryRule::field,
                                 &UsageNumber::field));
static_assert(std::ranges::all_of(kUsageNumbers, [](const UsageNumber& number) {
  const auto* const rule =
      std::ranges::find(kUsageSummaryRules, number.field, &UsageSummaryRule::field);
  return number.is_sum == (rule->combining == UsageCombining::kSum);
}));

}  // namespace pennyweight
