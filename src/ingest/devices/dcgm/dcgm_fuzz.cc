// Any bytes at all: dcgm::parse gives facts or reasons, and every fact it gives is in order.
#include <cstdint>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/devices/dcgm/dcgm.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = dcgm::parse(text, {.file = "fuzz",
                                           .cluster = ClusterId("c"),
                                           .at = from_unix_seconds(1'700'000'000),
                                           .node = std::nullopt});
  if (!document) return 0;
  for (const Usage& usage : document->usages) {
    CHECK(!usage.gpu.empty(), "a usage names its GPU");
    CHECK(usage.gpu_util_ppm.value_or(0) <= 1'000'000, "a share is at most the whole");
    CHECK(usage.engine_active_ppm.value_or(0) <= 1'000'000, "a share is at most the whole");
    CHECK(is_plain_text(usage.workload.text()), "what is kept is UTF-8");
  }
  for (const RejectedRow& row : document->rejected) {
    CHECK(row.line > 0 && !row.reason.empty(), "a refusal says where and why");
    CHECK(is_plain_text(row.text), "what is kept is UTF-8");
  }
  return 0;
}
