// Any bytes at all: amd_smi::parse gives facts or reasons, and every fact it gives is in order.
#include <cstdint>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/devices/amd_smi/amd_smi.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = amd_smi::parse(text, {.file = "fuzz",
                                              .cluster = ClusterId("c"),
                                              .node = NodeId("n"),
                                              .at = from_unix_seconds(1'700'000'000)});
  if (!document) return 0;
  for (const Usage& usage : document->usages) {
    CHECK(!usage.gpu.empty() && is_plain_text(usage.gpu.text()), "a usage names its GPU");
    CHECK(usage.gpu_util_ppm.value_or(0) <= 1'000'000, "a share is at most the whole");
    const bool is_of_card = usage.power_milliwatts || usage.energy_millijoules;
    CHECK(!is_of_card || usage.mig_instance.empty(), "power is of the whole GPU");
  }
  for (const RejectedRow& row : document->rejected) {
    CHECK(!row.reason.empty() && is_plain_text(row.reason), "a refusal says why");
  }
  return 0;
}
