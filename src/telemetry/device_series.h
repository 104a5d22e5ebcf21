// Classifies the series of device exporters.
#pragma once

#include <optional>

#include "telemetry/label_view.h"

namespace pennyweight::telemetry {

// Nothing where the metric is not one of a device exporter that is read.
std::optional<Classification> classify_device_series(const LabelView& labels);

}  // namespace pennyweight::telemetry
