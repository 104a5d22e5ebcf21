// Any text is read or refused; each node is there once.
#include <set>

#include "core/check.h"
#include "core/limits.h"
#include "ingest/schedulers/slurm/scontrol_nodes.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight;
  const auto found = slurm::parse_scontrol_nodes({reinterpret_cast<const char*>(data), size},
                                                 {.cluster = ClusterId("c"),
                                                  .from = from_unix_seconds(0),
                                                  .file = "fuzz",
                                                  .partitions_are_pools = size % 2 == 1});
  if (!found) return 0;
  std::set<NodeId> names;
  for (const Node& node : found->nodes) {
    CHECK(names.insert(node.name).second, "each node is there once");
    CHECK(node.gpu_count <= limits::kGpusPerNodeMax, "GPUs are limited");
  }
  return 0;
}
