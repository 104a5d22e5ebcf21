// Parses one line of the Prometheus text exposition format 0.0.4, as dcgm-exporter's /metrics gives
// it.
//
//   metric_name{label="value",...} value [timestamp in ms]
//
// https://prometheus.io/docs/instrumenting/exposition_formats/ . OpenMetrics is read as far as it
// is the same, with its timestamps in seconds, its exemplars and its '# EOF'. HELP, TYPE and other
// comments are skipped: no rule needs them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decimal.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::dcgm {

enum class Dialect { kPrometheus, kOpenMetrics };

struct Sample {
  struct Label {
    std::string_view name;
    std::string value;  // unescaped
  };
  std::string_view metric;  // a view into the line
  std::vector<Label> labels;
  std::string_view value;  // as it is written; see parse_value
  std::optional<Instant> at;

  // Empty where there is no such label: Prometheus does not distinguish the two.
  std::string_view label(std::string_view name) const;
};

// Whether a document is OpenMetrics: its last line is '# EOF'.
Dialect detect_dialect(std::string_view document);

// Parses a line without its line end. Nothing for a blank line or a comment; an Error says what the
// grammar does not allow.
Result<std::optional<Sample>> parse_sample(std::string_view line, Dialect dialect);

// A number as Go writes it. Nothing for NaN and the infinities, which are not measurements; digits
// beyond 10^-18 are rounded, below any unit of ours.
Result<std::optional<Decimal>> parse_value(std::string_view text);

}  // namespace pennyweight::dcgm
