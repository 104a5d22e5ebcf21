// Any bytes as each of the three formats: samples within range under keys that distinguish series,
// and every line is either read or in the report.
#include <cstdint>

#include "core/check.h"
#include "core/instant.h"
#include "telemetry/prometheus/collecting_sink.h"
#include "telemetry/prometheus/exposition.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  using namespace pennyweight::prometheus;
  const std::string_view document(reinterpret_cast<const char*>(data), size);
  const TargetLabels target = {.labels = {{"job", "fuzz"}, {"pod", "exporter"}},
                               .honor_labels = size % 2 == 0};
  for (const ExpositionFormat format :
       {ExpositionFormat::kText, ExpositionFormat::kOpenMetrics, ExpositionFormat::kProtobuf}) {
    CollectingSink sink;
    const auto report = parse_exposition(format, document, target,
                                         {.scraped_at = from_unix_seconds(1'700'000'000)}, sink);
    if (!report) {
      CHECK(sink.all.empty(), "nothing is handed on of what is refused");
      continue;
    }
    CHECK(report->samples == sink.all.size() + sink.refused, "the report counts what came");
    CHECK(report->bad >= sink.refused, "what can't be decoded is counted");
    CHECK(report->first_bad.size() <= kBadLinesKept, "the report has a limit");
    for (const BadLine& bad : report->first_bad) {
      CHECK(bad.line > 0 && !bad.reason.empty(), "a refusal says where and why");
    }
    for (const CollectedSeries& series : sink.all) {
      CHECK(series.samples.size() == 1, "a line is one sample");
      CHECK(series.samples[0].at_ms >= unix_ms(kInstantMin) &&
                series.samples[0].at_ms <= unix_ms(kInstantMax),
            "a time is within range");
    }
  }
  return 0;
}
