// Classifies counters of results: those of serving engines, and those that the configuration names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "telemetry/label_view.h"

namespace pennyweight::telemetry {

// A measure beyond ledger/outcome.h: Triton counts one execution of a batch of n as n inferences.
inline constexpr std::string_view kInferences = "inferences";

// Nothing where the metric is no such counter.
std::optional<Classification> classify_outcome_series(const LabelView& labels);

// Adds the names of all such counters, including the configured ones.
void add_outcome_metric_names(const ClassificationOptions& options,
                              std::vector<std::string>& names);

}  // namespace pennyweight::telemetry
