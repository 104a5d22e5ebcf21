// Which series of kube-state-metrics say what ingest/kubernetes makes facts of.
#pragma once

#include <optional>

#include "telemetry/label_view.h"

namespace pennyweight::telemetry {

// Nothing for other metrics.
std::optional<Meaning> state_meaning(const LabelView& labels);

}  // namespace pennyweight::telemetry
