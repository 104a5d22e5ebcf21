// Any bytes at all: the reader gives facts in order, or reasons.
#include <cstdint>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/inventory/outages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  inventory::OutageReader reader(
      {.file = "fuzz", .cluster = ClusterId("c")},
      [](std::span<const Outage> facts) -> Result<void> {
        for (const Outage& fact : facts) {
          CHECK(!fact.node.empty(), "a fact names its node");
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
