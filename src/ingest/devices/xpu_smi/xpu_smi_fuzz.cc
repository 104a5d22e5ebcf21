// Any bytes at all: xpu_smi::parse gives facts or reasons, and every fact it gives is in order.
#include <cstdint>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/devices/xpu_smi/xpu_smi.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = xpu_smi::parse(text, {.file = "fuzz",
                                              .cluster = ClusterId("c"),
                                              .node = NodeId("n"),
                                              .at = from_unix_seconds(1'700'000'000)});
  if (!document) return 0;
  CHECK(document->usages.size() <= document->gpus.size(), "a GPU has one reading at most");
  for (const Usage& usage : document->usages) {
    CHECK(usage.gpu.text().starts_with("n/") && is_plain_text(usage.gpu.text()),
          "it names its GPU");
    CHECK(usage.gpu_util_ppm.value_or(0) <= 1'000'000, "a share is at most the whole");
  }
  for (const RejectedRow& row : document->rejected) {
    CHECK(!row.reason.empty() && is_plain_text(row.reason), "a refusal says why");
  }
  return 0;
}
