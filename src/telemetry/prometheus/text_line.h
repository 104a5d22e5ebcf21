// Parses one line of the text format or of OpenMetrics.
//
//   metric_name{label="value",...} value [timestamp] [# exemplar]
//   {"metric.name",label="value",...} value …          (names of any letters, Prometheus 3)
#pragma once

#include <cstdint>
#include <string_view>

#include "telemetry/prometheus/label_limits.h"
#include "telemetry/prometheus/series.h"

namespace pennyweight::prometheus {

enum class TextDialect { kText, kOpenMetrics };

struct TextSample {
  std::string_view series;  // name{labels}, as it is written
  double value = 0;
  std::int64_t at_ms = 0;  // where has_time
  bool has_time = false;
  bool has_exemplar = false;
  const char* line_end = nullptr;
};

// REQUIRES: a '\n' at or after `line`, and memory that may be read up to `readable_end`, past that
// '\n'. The line is neither blank nor a comment. Returns nullptr, or what is wrong as a constant
// text.
const char* parse_text_sample(const char* line, const char* readable_end, TextDialect dialect,
                              TextSample& sample);

// Decodes the labels of a TextSample::series, with the metric's name as __name__, unescaped and in
// the order of the line; normalise_labels() comes next. Returns nullptr, or what is wrong as a
// constant text.
const char* decode_text_series(std::string_view series, const LabelLimits& limits,
                               std::vector<Label>& labels);

}  // namespace pennyweight::prometheus
