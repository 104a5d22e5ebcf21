// Collects the manifests that a command line names: files, folders and standard input.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "ingest/manifests/manifest_files.h"

namespace pennyweight {

// Of a folder those files whose names end as manifests do (.yaml, .yml, .json, .sh, .sbatch,
// .slurm), in folders below it too, by name; hidden folders and links are left out.
Result<std::vector<manifests::ManifestFile>> read_manifest_paths(
    const std::vector<std::string>& paths);

}  // namespace pennyweight
