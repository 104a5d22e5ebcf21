// Any bytes at all: the reader gives facts or reasons, and every row is one or the other.
#include <cstdint>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/schedulers/openb/pods.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  openb::PodReader reader(
      {.file = "fuzz",
       .cluster = ClusterId("c"),
       .origin = from_unix_seconds(0),
       .read_at = from_unix_seconds(1'000'000)},
      [](std::span<const Holding>) -> Result<void> { return {}; },
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
