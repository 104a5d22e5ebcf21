// What the three parsers of expositions share: the labels of the target, and the report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/prometheus/exposition.h"

namespace pennyweight::prometheus {

// Counts a bad line, and keeps it while there is room.
void note_bad(ExpositionReport& report, std::uint64_t line, std::string_view reason);

// What all keys of a target are mixed with, so that equal lines of two targets differ.
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

// Both dialects of text; protobuf. REQUIRES of the latter: the lengths of all messages are right.
void parse_text(std::string_view document, bool is_open_metrics, const ParserContext& context);
void parse_protobuf(std::string_view document, const ParserContext& context);
Result<void> check_delimited(std::string_view document);

}  // namespace pennyweight::prometheus
