// Selects the series of kube-state-metrics that ingest/schedulers/kubernetes makes facts from.
#pragma once

#include <optional>

#include "telemetry/label_view.h"

namespace pennyweight::telemetry {

// Nothing for other metrics.
std::optional<Classification> classify_state_series(const LabelView& labels);

}  // namespace pennyweight::telemetry
