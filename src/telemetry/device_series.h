// Which series are measurements of devices, and of which.
#pragma once

#include <optional>

#include "telemetry/label_view.h"

namespace pennyweight::telemetry {

// Nothing where the metric is not one of a device exporter's that we read.
std::optional<Meaning> device_meaning(const LabelView& labels);

}  // namespace pennyweight::telemetry
