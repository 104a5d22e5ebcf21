#include "telemetry/prometheus/label_limits.h"

#include <algorithm>

#include "core/plain_text.h"

namespace pennyweight::prometheus {

bool normalise_labels(std::vector<Label>& labels, const LabelLimits& limits) {
  if (labels.size() > limits.labels) return false;
  for (const Label& label : labels) {
    if (label.name.empty() || label.name.size() > limits.name_bytes ||
        label.value.size() > limits.value_bytes || !is_plain_text(label.name) ||
        !is_plain_text(label.value)) {
      return false;
    }
  }
  std::ranges::sort(labels, {}, &Label::name);
  if (std::ranges::adjacent_find(labels, {}, &Label::name) != labels.end()) return false;
  std::erase_if(labels, [](const Label& label) { return label.value.empty(); });
  return true;
}

}  // namespace pennyweight::prometheus
