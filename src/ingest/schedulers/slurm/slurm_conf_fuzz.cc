// Any bytes as slurm.conf: nodes with names, or a reason.
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "ingest/schedulers/slurm/slurm_conf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto found = slurm::parse_slurm_conf(
      text, {.cluster = ClusterId("c"), .from = from_unix_seconds(1'700'000'000), .file = "fuzz"});
  if (!found) return 0;
  for (const Node& node : found->nodes) {
    CHECK(!node.name.empty() && is_plain_text(node.name.text()), "a node has a name");
    CHECK(node.gpu_count <= limits::kGpusPerNodeMax, "no more GPUs than the limit");
    CHECK(node.source.line > 0, "and a line");
  }
  for (const RejectedRow& row : found->rejected) {
    CHECK(row.line > 0 && !row.reason.empty(), "a refusal says where and why");
  }
  return 0;
}
