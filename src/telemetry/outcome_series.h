// Which series count what was done for somebody: the engines' own counters, and those that the
// configuration names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "telemetry/label_view.h"

namespace pennyweight::telemetry {

// Further than ledger/outcome.h: Triton counts an execution of a batch of n as n inferences.
inline constexpr std::string_view kInferences = "inferences";

// Nothing where the metric is no such counter.
std::optional<Meaning> outcome_meaning(const LabelView& labels);

// Adds the names of all such counters, the configured ones among them.
void add_outcome_metric_names(const MeaningOptions& options, std::vector<std::string>& names);

}  // namespace pennyweight::telemetry
