// What labels may be, whichever way they came.
#pragma once

#include <cstddef>
#include <vector>

#include "ingest/prometheus/series.h"

namespace pennyweight::prometheus {

// A series that passes one of these is dropped and counted. dcgm-exporter has some 15 labels, and
// kube_pod_labels as many as a pod has.
struct LabelLimits {
  std::size_t labels = 64;
  std::size_t name_bytes = 1024;
  std::size_t value_bytes = 4096;
};

// Labels with an empty value go, as they say the same as none; the rest is sorted by name. False
// where a limit is passed, a name is empty or there twice, or a text is not UTF-8.
bool settle_labels(std::vector<Label>& labels, const LabelLimits& limits);

}  // namespace pennyweight::prometheus
