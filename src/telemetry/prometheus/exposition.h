// Exposition: parses the answer of a scraped endpoint: text 0.0.4, OpenMetrics 1.0 and protobuf.
//
// https://prometheus.io/docs/instrumenting/exposition_formats/ ,
// https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md and
// prometheus/client_model's metrics.proto, delimited. Histograms and summaries become the series
// _bucket, _sum and _count, and the quantiles of summaries. Native histograms, exemplars, HELP,
// TYPE and UNIT are skipped. A bad line is counted and reported, and the others are read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "telemetry/prometheus/label_limits.h"
#include "telemetry/prometheus/series.h"

namespace pennyweight::prometheus {

enum class ExpositionFormat { kText, kOpenMetrics, kProtobuf };

// The Accept header of a scrape. Plain text first: every exporter has it, and it parses fastest.
inline constexpr std::string_view kExpositionAccept =
    "text/plain;version=0.0.4;q=0.9,application/openmetrics-text;version=1.0.0;q=0.8,"
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;"
    "q=0.7,*/*;q=0.1";
// The encodings that an exporter may choose from; encoding.h reads more.
inline constexpr std::string_view kExpositionAcceptEncoding = "gzip, zstd";

// The format of an answer. Without a Content-Type it is text. HTML, JSON and the like are
// kUnsupported: something else answers at that address.
Result<ExpositionFormat> parse_exposition_format(std::string_view content_type);

// Labels of the target (job, instance, cluster …), which are added to all its series.
struct TargetLabels {
  std::vector<Label> labels;
  // Where a series already has a label of that name: true, it keeps its own; false, as Prometheus
  // does by default, its own is renamed exported_<name>.
  bool honor_labels = false;
};

struct ExpositionOptions {
  Instant scraped_at;  // the time of samples without one
  LabelLimits labels = {};
  bool honor_timestamps = true;  // false: scraped_at is the time of all samples
};

struct BadLine {
  std::uint64_t line = 0;  // from 1; in protobuf the number of the message
  std::string reason;
};
inline constexpr std::size_t kBadLinesKept = 20;

struct ExpositionReport {
  std::uint64_t samples = 0;               // handed on
  std::uint64_t samples_out_of_range = 0;  // before 1970 or after 2199: dropped
  std::uint64_t exemplars = 0;             // passed over
  std::uint64_t histograms = 0;            // native ones, without buckets: passed over
  // Lines that can't be read, and series whose labels failed to decode.
  std::uint64_t bad = 0;
  std::vector<BadLine> first_bad;  // at most kBadLinesKept
};

// Gives each sample to the sink as it is read, with the labels of its series still encoded: names,
// UTF-8, limits and duplicates are checked when a sink decodes them, and what is bad then is also
// in the report. The key is that of the bytes of name{labels} and of the target's labels.
// OpenMetrics without '# EOF' (it was cut off) is an Error before any sample is given. Protobuf may
// fail later, where the length of a message is wrong.
Result<ExpositionReport> parse_exposition(ExpositionFormat format, std::string_view document,
                                          const TargetLabels& target,
                                          const ExpositionOptions& options, SeriesSink& sink);

}  // namespace pennyweight::prometheus
