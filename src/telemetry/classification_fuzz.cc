// Any labels at all: classify_series() gives a classification, always the same one, and what it
// says of a device can be accumulated. The input is a value of eight bytes, then lines NAME=VALUE.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "telemetry/classification.h"
#include "telemetry/device_metric.h"

namespace {

using namespace pennyweight;
using namespace pennyweight::telemetry;

std::vector<prometheus::Label> labels_of(std::string_view text) {
  std::vector<prometheus::Label> labels;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t cut = line.find('=');
    if (cut == std::string_view::npos || cut == 0 || cut + 1 == line.size()) continue;
    labels.push_back({std::string(line.substr(0, cut)), std::string(line.substr(cut + 1))});
  }
  std::ranges::stable_sort(labels, {}, &prometheus::Label::name);
  const auto again = std::ranges::unique(labels, {}, &prometheus::Label::name);
  labels.erase(again.begin(), again.end());
  return labels;
}

void check(const DeviceSeries& series, double raw) {
  CHECK(!series.gpu.empty(), "a measurement names its card");
  CHECK(!series.source.empty(), "a measurement says who made it");
  CHECK(std::isfinite(series.scale) && series.scale > 0, "a scale is a number");
  CHECK(series.least < series.most, "a scale has a range");
  CHECK(!series.of_workload || !series.workload.empty(), "own values have an owner");
  if (is_per_gpu(series.quantity)) {
    CHECK(series.mig_instance.empty() && series.workload.empty(), "the card's is the card's");
  }
  CHECK(!std::isnan(raw) || is_blank(series.quantity, raw), "NaN is no value");
  CHECK(is_blank(raw) || !is_blank(series.quantity, raw), "a blank of one quantity is a blank");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < sizeof(double)) return 0;
  double raw = 0;
  std::memcpy(&raw, data, sizeof raw);
  const auto labels =
      labels_of({reinterpret_cast<const char*>(data) + sizeof raw, size - sizeof raw});
  const ClassificationOptions options{.cluster = ClusterId("c"),
                                      .outcomes = {{.metric = "count",
                                                    .measure = "things",
                                                    .keep = {"user", "client"},
                                                    .per = 1000,
                                                    .where = {{"kind", "ok"}}}},
                                      .host_usage = HostUsageSource::kCadvisor};
  const Classification meaning = classify_series(labels, options);
  const Classification again = classify_series(labels, options);
  CHECK(meaning.index() == again.index(), "classify_series is pure");
  if (const auto* device = std::get_if<DeviceSeries>(&meaning)) {
    CHECK(series_identity(*device) == series_identity(std::get<DeviceSeries>(again)), "it is pure");
    check(*device, raw);
  } else if (const auto* outcome = std::get_if<OutcomeSeries>(&meaning)) {
    CHECK(series_identity(*outcome) == series_identity(std::get<OutcomeSeries>(again)),
          "it is pure");
    CHECK(!outcome->workload.empty() && !outcome->measure.empty() && outcome->per > 0,
          "an outcome is somebody's");
  } else if (const auto* unusable = std::get_if<Unusable>(&meaning)) {
    CHECK(!unusable->why.empty(), "a refusal says why");
  }
  return 0;
}
