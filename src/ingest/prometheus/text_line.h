// One line of the text format or of OpenMetrics, cut into its parts.
//
//   metric_name{label="value",...} value [timestamp] [# exemplar]
//   {"metric.name",label="value",...} value …          (names of any letters, Prometheus 3)
#pragma once

#include <cstdint>
#include <string_view>

#include "ingest/prometheus/label_limits.h"
#include "ingest/prometheus/series.h"

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
// '\n'. The line is not blank and no comment. nullptr, or what is wrong as a constant text.
const char* parse_text_sample(const char* line, const char* readable_end, TextDialect dialect,
                              TextSample& sample);

// The labels of a TextSample::series, the metric's name as __name__, unescaped, in the order of the
// line and not settled. nullptr, or what is wrong as a constant text.
const char* decode_text_series(std::string_view series, const LabelLimits& limits,
                               std::vector<Label>& labels);

}  // namespace pennyweight::prometheus
