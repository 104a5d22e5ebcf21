// Any text as a manifest, a Compose file, a plan or a job script: read or refused, and every
// amount within its bounds.
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/limits.h"
#include "ingest/manifests/cron_schedule.h"
#include "ingest/manifests/manifest_files.h"
#include "ingest/manifests/slurm_job.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)manifests::parse_time_limit_ms(text);
  (void)manifests::parse_array_tasks(text);
  if (const auto runs = manifests::runs_in_month(text, 2026, 2)) {
    CHECK(*runs <= 28 * 24 * 60, "a schedule begins at most once a minute");
  }
  const manifests::ManifestFile file{"fuzz", text};
  const auto reading = manifests::read_manifest_files({&file, 1});
  if (!reading) return 0;
  for (const manifests::WorkloadRequest& workload : reading->workloads) {
    CHECK(workload.file == "fuzz", "a workload names its file");
    for (const manifests::ReplicaGroup& group : workload.groups) {
      CHECK(group.replicas <= manifests::kReplicasMax, "replicas within the limit");
      CHECK(group.replicas_max.value_or(0) <= manifests::kReplicasMax, "so are those at most");
      for (const RequestedDevice& device : group.gpus) {
        CHECK(device.count > 0, "a request is for a device at least");
      }
    }
  }
  return 0;
}
