// Any bytes as RunPod's billing records: an Error about the document, or every record is taken or
// kept aside.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "ingest/bill/collect_test.h"
#include "ingest/rated/json_import.h"
#include "ingest/rated/runpod.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const RateCard card =
      RateCard::parse("gpu_model,unit,price,currency\n*,Hours,0.34,USD\n", "card.csv").value();
  const auto reader = rated::runpod_bill(card, {});
  bill::Collected sink;
  const auto summary =
      rated::import_json({reinterpret_cast<const char*>(data), size}, "fuzz.json", *reader, sink);
  if (!summary) return 0;
  CHECK(sink.lines.size() == summary->charges, "every line is handed over");
  CHECK(sink.bad.size() == summary->rejected, "and every bad record");
  for (const Charge& charge : sink.lines) {
    CHECK(charge.costs.billed == charge.costs.effective, "one amount, four costs");
  }
  return 0;
}
