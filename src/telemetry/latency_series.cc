#include "telemetry/latency_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pennyweight::telemetry {
namespace {

struct Histogram {
  std::string_view metric;  // with '_' for ':', as some relabelling writes it
  double seconds;           // that one unit of its bounds has
};

// vLLM (vllm/v1/metrics/loggers.py), SGLang (metrics/collector.py), TGI (router/src/server.rs),
// Triton (docs/user_guide/metrics.md; with --metrics-config histogram_latencies=true, of decoupled
// models: time to the first response).
constexpr Histogram kHistograms[] = {
    {"vllm_e2e_request_latency_seconds_bucket", 1},
    {"sglang_e2e_request_latency_seconds_bucket", 1},
    {"tgi_request_duration_bucket", 1},
    {"nv_inference_first_response_histogram_ms_bucket", 0.001},
};

constexpr std::string_view kNoLatencyWorkload =
    "a latency histogram without a workload; scrape it with the labels namespace and pod, or with "
    "hpc_job";
constexpr std::string_view kNoBound = "a latency histogram whose le is no number";

const Histogram* find_histogram(std::string_view metric) {
  const auto same = [](char a, char b) { return a == b || (a == '_' && b == ':'); };
  const auto* const at = std::ranges::find_if(kHistograms, [&](const Histogram& one) {
    return std::ranges::equal(one.metric, metric, same);
  });
  return at == std::end(kHistograms) ? nullptr : at;
}

std::optional<std::string> bound_in_seconds(std::string_view le, double seconds) {
  if (le == "+Inf" || le == "Inf") return "+Inf";
  double value = 0;
  const auto [end, error] = std::from_chars(le.data(), le.data() + le.size(), value);
  if (error != std::errc() || end != le.data() + le.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return fmt::format("{}", value * seconds);
}

// All but the bound, and what says who sent it.
std::string histogram_component(const LabelView& labels) {
  const ClassificationOptions& options = labels.options();
  std::string text;
  for (const prometheus::Label& label : labels.all()) {
    if (label.value.empty() || label.name == "le" || label.name == "prometheus" ||
        label.name == options.cluster_label ||
        std::ranges::find(options.replica_labels, label.name) != options.replica_labels.end()) {
      continue;
    }
    text.append(text.empty() ? "" : ",").append(label.name).append("=").append(label.value);
  }
  return text;
}

}  // namespace

std::optional<Classification> classify_latency_series(const LabelView& labels) {
  const Histogram* const histogram = find_histogram(labels.metric());
  if (histogram == nullptr) return std::nullopt;
  std::string workload = labels.workload();
  if (workload.empty()) return Unusable{std::string(kNoLatencyWorkload)};
  const auto bound = bound_in_seconds(labels.value("le"), histogram->seconds);
  if (!bound) return Unusable{std::string(kNoBound)};
  const std::string_view model = labels.first_exporter_value({"model_name", "model"});
  const std::size_t slash = workload.find('/');
  std::string service = workload;
  if (!model.empty() && slash != std::string::npos) {
    service = fmt::format("{}/{}", workload.substr(0, slash), model);
  }
  return StateSeries{.cluster = labels.cluster(),
                     .metric = std::string(kLatencyBuckets),
                     .labels = {{"component", histogram_component(labels)},
                                {"le", *bound},
                                {"service", std::move(service)},
                                {"workload", std::move(workload)}}};
}

void add_latency_metric_names(std::vector<std::string>& names) {
  for (const Histogram& one : kHistograms) {
    names.emplace_back(one.metric);
    std::string own(one.metric);
    own[own.find('_')] = ':';
    if (one.metric.starts_with("vllm_") || one.metric.starts_with("sglang_")) {
      names.push_back(std::move(own));
    }
  }
}

}  // namespace pennyweight::telemetry
