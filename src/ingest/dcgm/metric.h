// The metrics of dcgm-exporter that a charge or a report reads: names, units and scales.
//
// A metric is known by its field, never by its suffix: DCGM 4.6 renamed GPU_UTIL to GPU_UTIL_RATIO
// and left it a percentage, while PROF_SM_UTIL_RATIO is a ratio. All names that a field ever had
// stand in the table of metric.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/decimal.h"
#include "core/error.h"

namespace pennyweight::dcgm {

enum class Field {
  kGpuUtil,         // field 203: share of time a kernel was resident, as ppm
  kEngineActive,    // field 1001, as ppm
  kSmActive,        // field 1002, as ppm
  kMemoryUsed,      // field 252, as bytes
  kMemoryFree,      // field 251, as bytes
  kMemoryReserved,  // field 253, as bytes
  kMemoryTotal,     // field 250, as bytes
  kPower,           // field 155, as mW
  kEnergy,          // field 156, as mJ
};

// Nothing for a metric that no rule of ours reads.
std::optional<Field> find_field(std::string_view metric);

// The value in the unit of the field. Nothing for DCGM's blank sentinels (not found, not supported,
// not permitted); an error for a value outside of the field's documented scale.
Result<std::optional<std::uint64_t>> measure(Field field, Decimal value);

}  // namespace pennyweight::dcgm
