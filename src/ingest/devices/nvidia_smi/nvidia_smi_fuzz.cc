// Any bytes at all: nvidia_smi::parse gives facts or reasons, and every fact it gives is in order.
#include <cstdint>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/devices/nvidia_smi/nvidia_smi.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = nvidia_smi::parse(text, {.file = "fuzz",
                                                 .cluster = ClusterId("c"),
                                                 .node = NodeId("n"),
                                                 .zone = TimeZone::utc(),
                                                 .at = from_unix_seconds(1'700'000'000)});
  if (!document) return 0;
  for (const Gpu& gpu : document->gpus) {
    CHECK(!gpu.uuid.empty(), "a GPU is known by its UUID");
    CHECK(is_plain_text(gpu.uuid.text()) && is_plain_text(gpu.model), "what is kept is UTF-8");
    for (const MigInstance& instance : gpu.mig_instances) {
      CHECK(is_plain_text(instance.id.text()) && is_plain_text(instance.profile),
            "what is kept is UTF-8");
    }
  }
  for (const Usage& usage : document->usages) {
    CHECK(!usage.gpu.empty(), "a usage names its GPU");
    CHECK(usage.gpu_util_ppm.value_or(0) <= 1'000'000, "a share is at most the whole");
  }
  for (const RejectedRow& row : document->rejected) {
    CHECK(row.line > 0 && !row.reason.empty(), "a refusal says where and why");
    CHECK(is_plain_text(row.text), "what is kept is UTF-8");
  }
  return 0;
}
