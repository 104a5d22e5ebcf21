// Classifies what containers use of their hosts, as the kubelet tells it: processor time and
// memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "telemetry/label_view.h"

namespace pennyweight::telemetry {

// Nothing where the metric is none of these, or nobody wants them.
std::optional<Classification> classify_container_series(const LabelView& labels);

void add_container_metric_names(const ClassificationOptions& options,
                                std::vector<std::string>& names);

}  // namespace pennyweight::telemetry
