// Any bytes as a remote_write body, as 1.0 and as 2.0: refused as a whole, or every series has
// sorted labels and samples within range, under keys that distinguish them. What was read is built
// and read again, and is the same.
#include <bit>
#include <cstdint>

#include "core/check.h"
#include "core/instant.h"
#include "telemetry/prometheus/collecting_sink.h"
#include "telemetry/prometheus/remote_write.h"
#include "telemetry/prometheus/write_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  using namespace pennyweight::prometheus;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const WriteProtocol protocol : {WriteProtocol::kV1, WriteProtocol::kV2}) {
    WriteRequestReader reader;
    CollectingSink sink;
    const auto counts = reader.read(protocol, body);
    reader.emit(sink);
    CHECK(counts || sink.all.empty(), "a malformed body is refused as a whole");
    WriteRequestBuilder builder;
    for (const CollectedSeries& series : sink.all) {
      builder.add(series.labels, series.samples);
      for (const Sample& sample : series.samples) {
        CHECK(sample.at_ms >= unix_ms(kInstantMin) && sample.at_ms <= unix_ms(kInstantMax),
              "a time is within range");
      }
    }
    CollectingSink again;
    CHECK(reader.read(WriteProtocol::kV1, builder.body()), "what is built can be read");
    reader.emit(again);
    CHECK(again.all.size() == sink.all.size(), "all series come back");
    for (std::size_t i = 0; i < sink.all.size(); ++i) {
      CHECK(again.all[i].labels == sink.all[i].labels, "with their labels");
      CHECK(again.all[i].samples.size() == sink.all[i].samples.size(), "and their samples");
      for (std::size_t j = 0; j < sink.all[i].samples.size(); ++j) {
        CHECK(std::bit_cast<std::uint64_t>(again.all[i].samples[j].value) ==
                  std::bit_cast<std::uint64_t>(sink.all[i].samples[j].value),
              "bit by bit");
      }
    }
  }
  return 0;
}
