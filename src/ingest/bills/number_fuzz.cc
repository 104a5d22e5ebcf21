// The fast parsers of numbers and the exact one agree on every text; times never crash.
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "core/instant.h"
#include "ingest/bills/number.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto fast = bill::parse_number(text);
  const auto exact = parse_decimal(text);
  CHECK(fast.has_value() == exact.has_value(), "one grammar");
  if (fast) {
    CHECK(fast->value == exact->value && fast->rounded == exact->rounded, "one value");
    const auto again = parse_exact_decimal(to_text(fast->value));
    CHECK(again && *again == fast->value, "what is printed is read back");
  }
  if (const auto at = parse_instant(text)) {
    CHECK(parse_instant(to_text(*at)) == at, "what is printed is read back");
  }
  return 0;
}
