#include "ingest/manifests/manifest_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/manifests/compose_services.h"
#include "ingest/manifests/document.h"
#include "ingest/manifests/kubernetes_objects.h"
#include "ingest/manifests/slurm_job.h"
#include "ingest/manifests/terraform_plan.h"

namespace pennyweight::manifests {
namespace {

void append_reading(ManifestReading& into, ManifestReading&& from) {
  std::ranges::move(from.workloads, std::back_inserter(into.workloads));
  std::ranges::move(from.unpriced, std::back_inserter(into.unpriced));
  into.without_cost += from.without_cost;
  into.cluster = with_files(std::move(into.cluster), from.cluster);
}

}  // namespace

Result<ManifestReading> read_manifest_files(std::span<const ManifestFile> files) {
  ManifestReading reading;
  std::vector<SourcedDocument> objects;
  for (const ManifestFile& file : files) {
    if (is_slurm_text(file.text)) {
      if (file.text.size() > kFileBytesMax || !is_plain_text(file.text)) {
        return fail(ErrorCode::kBadFile, fmt::format("{}: is no plain text, or more than {} bytes",
                                                     file.name, kFileBytesMax));
      }
      append_reading(reading, read_slurm_text(file.text, file.name));
      continue;
    }
    auto documents = parse_documents(file.text, file.name);
    if (!documents) {
      if (file.is_named) return std::unexpected(documents.error());
      reading.unpriced.push_back({file.name, 1, "file", "", documents.error().message});
      continue;
    }
    for (DocumentNode& document : *documents) {
      if (is_kubernetes_object(document)) {
        objects.push_back({file.name, std::move(document)});
      } else if (is_compose_file(document)) {
        append_reading(reading, read_compose_services(document, file.name));
      } else if (is_terraform_plan(document)) {
        append_reading(reading, read_terraform_plan(document, file.name));
      } else {
        reading.unpriced.push_back({file.name, document.line, "file", "",
                                    "no Kubernetes object, Compose file, Terraform plan or Slurm "
                                    "script"});
      }
    }
  }
  append_reading(reading, read_kubernetes_objects(objects));
  std::ranges::stable_sort(reading.workloads, {}, [&](const WorkloadRequest& workload) {
    return std::ranges::find(files, workload.file, &ManifestFile::name) - files.begin();
  });
  return reading;
}

}  // namespace pennyweight::manifests
