// The metrics of dcgm-exporter that a row of usage has a column for, measured. Their names, units
// and scales stand in fleet/dcgm_metric.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/decimal.h"
#include "core/error.h"
#include "fleet/dcgm_metric.h"

namespace pennyweight::dcgm {

using Field = DcgmField;

// Nothing for a metric that no rule of ours reads.
const DcgmMetric* find_field(std::string_view metric);

// The value in the unit of the field. Nothing for DCGM's blank sentinels (not found, not supported,
// not permitted); an error for a value outside of the field's documented scale.
Result<std::optional<std::uint64_t>> measure(const DcgmMetric& metric, Decimal value);

}  // namespace pennyweight::dcgm
