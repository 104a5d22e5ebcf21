// The metrics of dcgm-exporter that costs, KPIs or alerts depend on: every name that each has had,
// and its unit and scale.
//
// A metric is identified by its DCGM field, never by its suffix: DCGM 4.6 renamed GPU_UTIL to
// GPU_UTIL_RATIO and left it a percentage, while PROF_SM_UTIL_RATIO is a ratio.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace pennyweight {

// Each with its field id in dcgm_fields.h, and the unit in which we store it.
enum class DcgmField : std::uint8_t {
  kGpuUtil,          // 203: share of time a kernel was resident, ppm
  kEngineActive,     // 1001, ppm
  kSmActive,         // 1002, ppm
  kTensorActive,     // 1004, ppm
  kDramActive,       // 1005, ppm
  kMemoryUsed,       // 252, bytes
  kMemoryFree,       // 251, bytes
  kMemoryReserved,   // 253, bytes
  kMemoryTotal,      // 250, bytes
  kPower,            // 155, and 157 without averaging; mW
  kEnergy,           // 156, mJ since the driver was loaded
  kTemperature,      // 150, degrees Celsius
  kSmClock,          // 100, MHz
  kClockEvents,      // 112, bit mask of the reasons why clocks are lowered
  kPcieSent,         // 1009, bytes per second: a rate already
  kPcieReceived,     // 1010
  kNvlinkSent,       // 1011
  kNvlinkReceived,   // 1012
  kXid,              // 230, the last XID
  kXidCount,         // the exporter's own count of XIDs, over a window or since it started
  kEccErrors,        // 311 since the driver was loaded, 313 in the card's life
  kSmCyclesElapsed,  // 1084
  kSmCyclesActive,   // 1085
};

struct DcgmMetric {
  std::string_view name;
  DcgmField field;
  std::uint64_t units;     // of the field's unit in one of the metric's
  std::int64_t most;       // the largest value, in the metric's own unit; the least is 0
  std::string_view scale;  // the same in words, for messages
  // Other metrics of the same field, to be read only where the plain one is missing: "instant",
  // "aggregate", "total".
  std::string_view variant = {};
};

// Nothing for a metric that is not used.
const DcgmMetric* find_dcgm_metric(std::string_view name);

std::span<const DcgmMetric> dcgm_metrics();

}  // namespace pennyweight
