// What the parsers of the three exposition formats share: the labels of the target, and the report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "telemetry/prometheus/exposition.h"

namespace pennyweight::prometheus {

// Counts a bad line, and keeps it if there is room.
void record_bad_line(ExpositionReport& report, std::uint64_t line, std::string_view reason);

// Mixed into all keys of a target, so that equal lines of two targets have different keys.
Hash128 target_seed(const TargetLabels& target, std::string_view format);
inline Hash128 mixed(const Hash128& key, const Hash128& seed) {
  return {.high = key.high ^ seed.high, .low = key.low ^ seed.low};
}

// Adds the target's labels to those of a series.
void add_target_labels(const TargetLabels& target, std::vector<Label>& labels);

struct ParserContext {
  const TargetLabels& target;
  const ExpositionOptions& options;
  ExpositionReport& report;
  SeriesSink& sink;
};

// The parsers. REQUIRES for protobuf: check_delimited(), that the lengths of all messages are
// right.
void parse_text(std::string_view document, bool is_open_metrics, const ParserContext& context);
void parse_protobuf(std::string_view document, const ParserContext& context);
Result<void> check_delimited(std::string_view document);

}  // namespace pennyweight::prometheus
