// Limits of labels, and their normal form, whatever format they came in.
#pragma once

#include <cstddef>
#include <vector>

#include "telemetry/prometheus/series.h"

namespace pennyweight::prometheus {

// A series beyond one of these is dropped and counted. dcgm-exporter has some 15 labels, and
// kube_pod_labels as many as a pod has.
struct LabelLimits {
  std::size_t labels = 64;
  std::size_t name_bytes = 1024;
  std::size_t value_bytes = 4096;
};

// Removes labels with an empty value, which mean the same as none, and sorts the rest by name.
// False where a limit is passed, a name is empty or repeated, or a text is not UTF-8.
bool normalise_labels(std::vector<Label>& labels, const LabelLimits& limits);

}  // namespace pennyweight::prometheus
