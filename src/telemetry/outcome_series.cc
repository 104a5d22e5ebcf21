#include "telemetry/outcome_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ledger/outcome.h"

namespace pennyweight::telemetry {
namespace {

constexpr std::string_view kNoWorkload =
    "an outcome counter without a workload; scrape it with the labels namespace and pod, or "
    "with hpc_job";

struct Counter {
  std::string_view metric;  // with '_' for ':', as some relabelling writes it
  std::string_view measure;
};

// vLLM (vllm/v1/metrics/loggers.py), SGLang, Triton (docs/user_guide/metrics.md), TGI. Triton's
// nv_inference_request_failure and TGI's tgi_request_count also count requests that were not
// answered. TGI's histograms give the number of tokens in their _sum.
constexpr Counter kCounters[] = {
    {"vllm_request_success_total", kRequests},
    {"vllm_prompt_tokens_total", kPromptTokens},
    {"vllm_generation_tokens_total", kOutputTokens},
    {"sglang_num_requests_total", kRequests},
    {"sglang_prompt_tokens_total", kPromptTokens},
    {"sglang_generation_tokens_total", kOutputTokens},
    {"nv_inference_request_success", kRequests},
    {"nv_inference_count", kInferences},
    {"tgi_request_success", kRequests},
    {"tgi_request_success_total", kRequests},
    {"tgi_request_input_length_sum", kPromptTokens},
    {"tgi_request_generated_tokens_sum", kOutputTokens},
};

const Counter* find_counter(std::string_view metric) {
  const auto same = [](char a, char b) { return a == b || (a == '_' && b == ':'); };
  const auto* const at = std::ranges::find_if(kCounters, [&](const Counter& counter) {
    return std::ranges::equal(counter.metric, metric, same);
  });
  return at == std::end(kCounters) ? nullptr : at;
}

// Labels that say who scraped what, and nothing about what was counted. `instance` is not among
// them: one pod may run two servers.
bool is_of_sender(std::string_view name, const ClassificationOptions& options) {
  constexpr std::string_view kNames[] = {"__name__",  "job",          "prometheus",
                                         "service",   "endpoint",     "pod",
                                         "namespace", "exported_pod", "exported_namespace"};
  return name == options.cluster_label || std::ranges::find(kNames, name) != std::end(kNames) ||
         std::ranges::find(options.replica_labels, name) != options.replica_labels.end();
}

// What distinguishes the counters of one workload, measure and set of kept labels.
std::string outcome_component(const LabelView& labels, const Labels& kept) {
  std::string text;
  for (const prometheus::Label& label : labels.all()) {
    if (label.value.empty() || is_of_sender(label.name, labels.options()) ||
        kept.find(label.name)) {
      continue;
    }
    text.append(text.empty() ? "" : ",").append(label.name).append("=").append(label.value);
  }
  return text;
}

Classification counted(const LabelView& labels, std::string_view measure, Labels kept,
                       std::uint64_t per) {
  OutcomeSeries series{.cluster = labels.cluster(),
                       .workload = WorkloadId(labels.workload()),
                       .measure = std::string(measure),
                       .labels = {},
                       .component = outcome_component(labels, kept),
                       .source = labels.source("counter", ""),
                       .per = per};
  if (series.workload.empty()) return Unusable{std::string(kNoWorkload)};
  series.labels = std::move(kept);
  return series;
}

bool holds(const LabelView& labels, const OutcomeRule& rule) {
  return rule.metric == labels.metric() &&
         std::ranges::all_of(rule.where, [&](const prometheus::Label& label) {
           return labels.value(label.name) == label.value;
         });
}

Classification by_rule(const LabelView& labels, const OutcomeRule& rule) {
  Labels kept;
  for (const std::string& name : rule.keep) {
    const std::string_view value = labels.value(name);
    if (value.empty()) continue;
    if (!kept.set(name, value)) {
      return Unusable{"an outcome counter with more labels to keep than a workload may have"};
    }
  }
  return counted(labels, rule.measure, std::move(kept), rule.per);
}

// The model that served the request, under the name "model".
Classification by_engine(const LabelView& labels, const Counter& counter) {
  // vLLM counts aborted requests among its successes.
  const std::string_view reason = labels.value("finished_reason");
  if (reason == "abort" || reason == "error") return Ignored{};
  Labels kept;
  const std::string_view model = labels.first_exporter_value({"model_name", "model"});
  if (!model.empty() && !kept.set("model", model)) {
    return Unusable{"an outcome counter whose model name is too long"};
  }
  return counted(labels, counter.measure, std::move(kept), 1);
}

}  // namespace

void add_outcome_metric_names(const ClassificationOptions& options,
                              std::vector<std::string>& names) {
  for (const OutcomeRule& rule : options.outcomes) names.push_back(rule.metric);
  for (const Counter& counter : kCounters) {
    names.emplace_back(counter.metric);
    // "vllm:request_success_total" is the name as the engine writes it.
    std::string own(counter.metric);
    own[own.find('_')] = ':';
    names.push_back(std::move(own));
  }
}

std::optional<Classification> classify_outcome_series(const LabelView& labels) {
  for (const OutcomeRule& rule : labels.options().outcomes) {
    if (holds(labels, rule)) return by_rule(labels, rule);
  }
  if (const Counter* const counter = find_counter(labels.metric()); counter != nullptr) {
    return by_engine(labels, *counter);
  }
  return std::nullopt;
}

}  // namespace pennyweight::telemetry
