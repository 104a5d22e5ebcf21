// Exposition: what a scraped endpoint answers: text 0.0.4, OpenMetrics 1.0 and protobuf.
//
// https://prometheus.io/docs/instrumenting/exposition_formats/ ,
// https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md and
// prometheus/client_model's metrics.proto, delimited. Histograms and summaries are taken as the
// series _bucket, _sum and _count, and the summary's quantiles; native histograms, exemplars, HELP,
// TYPE and UNIT are passed over. A bad line is counted and named, and the others are taken.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "ingest/prometheus/label_limits.h"
#include "ingest/prometheus/series.h"

namespace pennyweight::prometheus {

enum class ExpositionFormat { kText, kOpenMetrics, kProtobuf };

// What a scraper asks for. The plain text first: every exporter has it, and it is read fastest.
inline constexpr std::string_view kExpositionAccept =
    "text/plain;version=0.0.4;q=0.9,application/openmetrics-text;version=1.0.0;q=0.8,"
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;"
    "q=0.7,*/*;q=0.1";
// Of the encodings that encoding.h reads, those an exporter may choose from.
inline constexpr std::string_view kExpositionAcceptEncoding = "gzip, zstd";

// Which parser an answer needs. Without a Content-Type it is text; a page of HTML, JSON and the
// like are kUnsupported: somebody else answers at that address.
Result<ExpositionFormat> exposition_format_of(std::string_view content_type);

// Labels of the target (job, instance, cluster …), which all its series get.
struct TargetLabels {
  std::vector<Label> labels;
  // Where a series has a label of that name already: true, it keeps its own; false, as Prometheus
  // does by default, its own is renamed exported_<name>.
  bool honor_labels = false;
};

struct ExpositionOptions {
  Instant scraped_at;  // of samples that say no time
  LabelLimits labels = {};
  bool honor_timestamps = true;  // false: all samples are of scraped_at
};

struct BadLine {
  std::uint64_t line = 0;  // from 1; of the protobuf format the message
  std::string reason;
};
inline constexpr std::size_t kBadLinesKept = 20;

struct ExpositionReport {
  std::uint64_t samples = 0;               // handed on
  std::uint64_t samples_out_of_range = 0;  // before 1970 or after 2199: dropped
  std::uint64_t exemplars = 0;             // passed over
  std::uint64_t histograms = 0;            // native ones, without buckets: passed over
  // Lines that can't be read, and series whose labels a sink asked for in vain.
  std::uint64_t bad = 0;
  std::vector<BadLine> first_bad;  // at most kBadLinesKept
};

// Hands on each sample as it is read, a series' labels encoded: names, UTF-8, limits and doubles
// are checked when a sink decodes them, and what is bad then is in the report as well. The key is
// that of the bytes of name{labels} and of the target's labels. Errors, before anything was handed
// on: OpenMetrics without '# EOF' (it was cut off). An error of the protobuf format may come later,
// where a message's length is wrong.
Result<ExpositionReport> parse_exposition(ExpositionFormat format, std::string_view document,
                                          const TargetLabels& target,
                                          const ExpositionOptions& options, SeriesSink& sink);

}  // namespace pennyweight::prometheus
