// The small texts inside of a row: resources, memory, durations, MIG types, a node's Gres.
#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/mig_type.h"
#include "ingest/schedulers/slurm/node_gres.h"
#include "ingest/schedulers/slurm/tres.h"
#include "ingest/schedulers/slurm/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)slurm::parse_memory_bytes(text);
  (void)slurm::parse_duration_ms(text);
  (void)slurm::parse_count(text);
  (void)slurm::parse_node_gres(text);
  CHECK(is_plain_text(slurm::shown_as_utf8(text)), "what is shown is clean");
  if (const auto mig = slurm::parse_mig_type(text)) {
    const auto again = slurm::parse_mig_type(mig->profile);
    CHECK(again && again->profile == mig->profile, "a profile is a type of itself");
  }
  const auto tres = slurm::parse_tres(text);
  if (!tres) return 0;
  for (const std::uint64_t nodes : {0u, 1u, 3u}) {
    const auto groups = slurm::device_groups(*tres, nodes);
    if (!groups) continue;
    for (std::size_t i = 0; i < groups->size(); ++i) {
      const slurm::DeviceGroup& group = (*groups)[i];
      CHECK(group.count > 0 && group.count <= limits::kGpusPerHoldingMax, "a group holds devices");
      CHECK(i == 0 || (*groups)[i - 1].name < group.name, "each name is there once");
    }
  }
  return 0;
}
