// For any bytes as FOCUS without costs: every row is imported with a price, or set aside.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/csv_import.h"
#include "ingest/bills/rated/rated_focus.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const RateCard card = RateCard::parse(
                            "sku,unit,price,list_price,currency\n*,GPU-Hours,2.39,6.155,USD\n"
                            "a*,Hours,1,,EUR\n",
                            "card.csv")
                            .value();
  bill::CollectingSink sink;
  const auto summary = bill::import_csv({reinterpret_cast<const char*>(data), size}, "fuzz.csv",
                                        rated::rated_focus_bill(card), sink);
  if (!summary) return 0;
  CHECK(sink.lines.size() == summary->charges, "every line is handed over");
  CHECK(sink.bad.size() == summary->rejected, "and every bad row");
  return 0;
}
