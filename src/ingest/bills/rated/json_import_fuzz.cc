// For any bytes as RunPod's billing records: an Error about the document, or every record is
// imported or set aside.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/json_records.h"
#include "ingest/bills/rated/runpod.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const RateCard card =
      RateCard::parse("gpu_model,unit,price,currency\n*,Hours,0.34,USD\n", "card.csv").value();
  const auto reader = rated::runpod_bill(card, {});
  bill::CollectingSink sink;
  const auto summary =
      bill::import_json({reinterpret_cast<const char*>(data), size}, "fuzz.json", reader, sink);
  if (!summary) return 0;
  CHECK(sink.lines.size() == summary->charges, "every line is handed over");
  CHECK(sink.bad.size() == summary->rejected, "and every bad record");
  for (const Charge& charge : sink.lines) {
    CHECK(charge.costs.billed == charge.costs.effective, "one amount, four costs");
  }
  return 0;
}
