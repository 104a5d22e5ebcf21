// Any bytes at all: the reader gives facts in order, or reasons.
#include <cstdint>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/inventory/holdings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  inventory::HoldingReader reader(
      {.file = "fuzz",
       .cluster = ClusterId("c"),
       .read_at = from_unix_seconds(2'000'000'000),
       .find_mig_profile = {}},
      [](std::span<const Holding> facts) -> Result<void> {
        for (const Holding& holding : facts) {
          CHECK(parse_placement(to_text(holding.placement)) == holding.placement,
                "a placement reads back");
          CHECK(parse_device(to_text(holding.device)) == holding.device, "a device reads back");
        }
        return {};
      },
      [](std::span<const RejectedRow> rows) -> Result<void> {
        for (const RejectedRow& row : rows) {
          CHECK(row.line > 0 && !row.reason.empty(), "a refusal says where and why");
          CHECK(is_plain_text(row.text), "what is kept is UTF-8");
        }
        return {};
      });
  const std::size_t half = size / 2;
  if (reader.feed(text.substr(0, half)) && reader.feed(text.substr(half))) {
    [[maybe_unused]] const auto done = reader.finish();
  }
  return 0;
}
