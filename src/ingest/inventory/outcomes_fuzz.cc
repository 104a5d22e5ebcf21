// Any bytes at all: the reader gives facts in order, or reasons.
#include <cstdint>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/inventory/outcomes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  inventory::OutcomeReader reader(
      {.file = "fuzz", .cluster = ClusterId("c")},
      [](std::span<const Outcome> facts) -> Result<void> {
        for (const Outcome& fact : facts) {
          CHECK(!fact.workload.empty() && !fact.measure.empty(), "a fact says of whom and what");
          CHECK(fact.during.begin() < fact.during.end(), "a fact has a time");
          CHECK(fact.count <= inventory::kOutcomeCountMax, "a count is within its limit");
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
