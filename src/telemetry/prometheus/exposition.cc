#include "telemetry/prometheus/exposition.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/hash.h"
#include "core/try.h"
#include "telemetry/prometheus/exposition_parsing.h"
#include "telemetry/prometheus/header_value.h"

namespace pennyweight::prometheus {
namespace {

// The last line of OpenMetrics; its line end may be missing.
bool ends_with_eof(std::string_view document) {
  constexpr std::string_view kEof = "# EOF";
  if (document.ends_with('\n')) document.remove_suffix(1);
  if (!document.ends_with(kEof)) return false;
  document.remove_suffix(kEof.size());
  return document.empty() || document.ends_with('\n');
}

const Label* find_label(const std::vector<Label>& labels, std::string_view name) {
  const auto found = std::ranges::find(labels, name, &Label::name);
  return found == labels.end() ? nullptr : &*found;
}

}  // namespace

void record_bad_line(ExpositionReport& report, std::uint64_t line, std::string_view reason) {
  ++report.bad;
  if (report.first_bad.size() < kBadLinesKept) {
    report.first_bad.push_back({.line = line, .reason = std::string(reason)});
  }
}

Hash128 target_seed(const TargetLabels& target, std::string_view format) {
  Fingerprint fingerprint;
  fingerprint.add(format).add(std::int64_t{target.honor_labels ? 1 : 0});
  for (const Label& label : target.labels) fingerprint.add(label.name).add(label.value);
  return fingerprint.hash();
}

// As Prometheus does: scrape/scrape.go, mutateSampleLabels and resolveConflictingExposedLabels.
void add_target_labels(const TargetLabels& target, std::vector<Label>& labels) {
  for (const Label& own : target.labels) {
    const auto found = std::ranges::find(labels, own.name, &Label::name);
    if (found != labels.end()) {
      if (target.honor_labels) continue;
      if (found->value.empty()) {
        labels.erase(found);
      } else {
        std::string name = own.name;
        do {
          name.insert(0, "exported_");
        } while (find_label(labels, name) != nullptr || find_label(target.labels, name) != nullptr);
        found->name = std::move(name);
      }
    }
    labels.push_back(own);
  }
}

Result<ExpositionFormat> parse_exposition_format(std::string_view content_type) {
  const std::string type = media_type(content_type);
  if (type.empty() || type == "text/plain") return ExpositionFormat::kText;
  if (type == "application/openmetrics-text") return ExpositionFormat::kOpenMetrics;
  if (type == "application/vnd.google.protobuf") {
    const auto proto = parameter(content_type, "proto");
    const auto encoding = parameter(content_type, "encoding");
    if (proto.value_or("io.prometheus.client.MetricFamily") ==
            "io.prometheus.client.MetricFamily" &&
        encoding.value_or("delimited") == "delimited") {
      return ExpositionFormat::kProtobuf;
    }
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("Content-Type \"{}\" is not an exposition of metrics; check the address",
                          printable(content_type)));
}

Result<ExpositionReport> parse_exposition(ExpositionFormat format, std::string_view document,
                                          const TargetLabels& target,
                                          const ExpositionOptions& options, SeriesSink& sink) {
  ExpositionReport report;
  const ParserContext context = {
      .target = target, .options = options, .report = report, .sink = sink};
  switch (format) {
    case ExpositionFormat::kText:
      parse_text(document, false, context);
      break;
    case ExpositionFormat::kOpenMetrics:
      if (!ends_with_eof(document)) {
        return fail(ErrorCode::kBadFile,
                    "the OpenMetrics document does not end with '# EOF': it was cut off");
      }
      parse_text(document, true, context);
      break;
    case ExpositionFormat::kProtobuf:
      TRY(check_delimited(document));
      parse_protobuf(document, context);
      break;
  }
  return report;
}

}  // namespace pennyweight::prometheus
