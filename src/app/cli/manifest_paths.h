// Collects the manifests that a command line names: files, folders and standard input.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"
#include "ingest/manifests/manifest_files.h"

namespace pennyweight {

// Of a folder those files whose names end as manifests do (.yaml, .yml, .json, .sh, .sbatch,
// .slurm), in folders below it too, by name; hidden folders and links are left out.
Result<std::vector<manifests::ManifestFile>> read_manifest_paths(
    const std::vector<std::string>& paths);

// Whether a file of a folder is read: its path there, without hidden folders.
bool is_manifest_path(const std::string& path);

// What the files of a command line may have together.
class ManifestBudget {
 public:
  // An Error: a file, or all together, have too much.
  Result<void> add(const std::string& name, std::size_t bytes);

 private:
  std::size_t bytes_ = 0;
  std::size_t files_ = 0;
};

}  // namespace pennyweight
