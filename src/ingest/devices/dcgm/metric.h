// The values of those metrics of dcgm-exporter that usage has a column for. core/gpu/dcgm_metric.h
// has their names, units and scales.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/decimal.h"
#include "core/error.h"
#include "core/gpu/dcgm_metric.h"

namespace pennyweight::dcgm {

using Field = DcgmField;

// Nothing for a metric that is not read.
const DcgmMetric* find_field(std::string_view metric);

// The value in the unit of the field. Nothing for DCGM's blank sentinels (not found, not supported,
// not permitted); an Error for a value outside the documented scale of the field.
Result<std::optional<std::uint64_t>> measure(const DcgmMetric& metric, Decimal value);

}  // namespace pennyweight::dcgm
